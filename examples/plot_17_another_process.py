"""
Save a model, and place new rows elsewhere
==========================================

A model is saved to a folder of JSON and numbers. Another process, here a second Python, loads it and places rows that
arrived later.
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

import sidelight

tissue = load_breast_cancer(as_frame=True)
X = tissue.data[["mean radius", "mean texture", "mean concavity", "worst symmetry"]]
kind = tissue.target_names[tissue.target].astype(object)
old, new = X.iloc[:500], X.iloc[500:]
y = np.where(np.arange(500) % 20 == 0, kind[:500], None)
model = sidelight.GuidedMixture(random_state=0).fit(old, y)

# %%

PLACE = """
import sys, pandas as pd, sidelight
model = sidelight.load(sys.argv[1])
rows = pd.read_csv(sys.argv[2])
rows.assign(kind=model.predict(rows), certainty=model.predict_proba(rows).max(axis=1)).to_csv(sys.argv[3], index=False)
"""
with TemporaryDirectory() as place:
    folder = Path(place)
    sidelight.save(model, folder / "model")
    print(sorted(path.name for path in (folder / "model").iterdir()))
    new.to_csv(folder / "new.csv", index=False)
    arguments = [str(folder / name) for name in ("model", "new.csv", "placed.csv")]
    subprocess.run([sys.executable, "-c", PLACE, *arguments], check=True)
    placed = pd.read_csv(folder / "placed.csv")
placed.head()

# %%
# The answers are the same as in this process, to the last digit, and mostly right.

assert (placed["kind"] == model.predict(new)).all()
print(f"{np.mean(placed['kind'] == kind[500:]):.2f} of {len(new)} new rows are right")

# %%

figure, axis = plt.subplots(figsize=(6, 4))
for name, rows in placed.groupby("kind"):
    axis.scatter(rows["mean radius"], rows["mean concavity"], s=60 * rows["certainty"] ** 4, label=name, alpha=0.7)
axis.set(xlabel="mean radius", ylabel="mean concavity", title="new rows; small ones are less certain")
axis.legend(frameon=False)
plt.show()
