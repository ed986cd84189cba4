"""A fit as scikit-learn's callbacks see it: one task, and a subtask for every step that is reported.

scikit-learn has them from version 1.9 on (``sklearn.callback``: progress bars, scores during a search). With earlier
versions estimators are as they were, without ``set_callbacks``.
"""

from collections.abc import Callable, Iterable
from inspect import signature
from typing import Any

from sidelight.inference.progress import Callback, Progress

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Supports nothing."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method as it is."""
        return method


class FitTasks(CallbackSupportMixin):
    """Gives an estimator ``set_callbacks``, where scikit-learn has callbacks."""

    def _watchers(self, callbacks: Iterable[Callback] | None) -> list[Callback]:
        """Return the callbacks that hear of every step: the estimator's own, and scikit-learn's where there are any."""
        own = list(callbacks or ())
        return [*own, self._report_step] if hasattr(self, "_callback_fit_ctx") else own

    def _report_step(self, progress: Progress) -> None:
        """Tell scikit-learn's callbacks of a step, a task that has begun and ended; none of them can stop a fit."""
        task = self._callback_fit_ctx.subcontext(task_name=progress.phase)
        task.call_on_fit_task_begin(estimator=self)
        task.call_on_fit_task_end(estimator=self)


@with_callbacks
def fit_as_task(estimator: Any, fit: Callable[..., object], *args: Any, **kwargs: Any) -> None:
    """Run ``fit(estimator, *args, **kwargs)``, as a task of scikit-learn's callbacks where the estimator has any."""
    if not hasattr(estimator, "_skl_callbacks") and not hasattr(estimator, "_parent_callback_ctx"):
        fit(estimator, *args, **kwargs)
        return
    given = signature(fit).bind(estimator, *args, **kwargs).arguments
    # What scorers take; statements about rows are nothing to score with.
    weight = given.get("sample_weight")
    seen = {"X": given["X"], "y": given.get("y"), "metadata": None if weight is None else {"sample_weight": weight}}
    task = estimator._init_callback_context(max_subtasks=None)
    task.call_on_fit_task_begin(estimator=estimator, **seen)
    fit(estimator, *args, **kwargs)
    task.call_on_fit_task_end(estimator=estimator, **seen, reconstruction_attributes={})
