"""What is raised for folders that do not hold a whole model of ours."""


class ForeignFileError(ValueError):
    """A folder or file is no saved model, is damaged, or was written by something else."""
