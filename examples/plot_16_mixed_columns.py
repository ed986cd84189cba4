"""
Numbers, categories and counts in one table
===========================================

300 invented customers: income, age, a region, and how often they came. Each column has the distribution that fits its
kind.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from sidelight import BayesianMixture
from sidelight.metrics import clustering_accuracy_score
from sidelight.plots import ConvergenceDisplay, ProfilesDisplay, cluster_profiles, profile_words

random = np.random.default_rng(0)
group = random.integers(0, 3, 300)
customers = pd.DataFrame(
    {
        "income": np.exp(np.array([3.0, 3.8, 4.4])[group] + random.normal(0, 0.25, 300)),
        "age": np.array([30.0, 50.0, 45.0])[group] + random.normal(0, 9, 300),
        "region": np.where(random.random(300) < 0.6, np.array(["north", "south", "west"])[group], "east"),
        "visits": random.poisson(np.array([1.0, 4.0, 9.0])[group]),
    }
)
customers.loc[::9, "income"] = np.nan
customers.head()

# %%
# Fifteen customers have a segment.

segment = np.array(["bronze", "silver", "gold"], dtype=object)[group]
y = np.where(np.arange(300) % 20 == 0, segment, None)
model = BayesianMixture(power="auto", random_state=0).fit(customers, y)
print(f"accuracy: {clustering_accuracy_score(segment, model.labels_, rows=y == None):.2f}")  # noqa: E711

# %%
# Income has a long tail; ``power="auto"`` took it on another scale by itself.

model.column_powers_

# %%

ProfilesDisplay.from_estimator(model, customers)
plt.show()

# %%
# The same in words:

profiles = cluster_profiles(model, customers)
for number, name in enumerate(profiles.names):
    print(f"{name}: {'; '.join(profile_words(profiles, number, most=3))}")

# %%
# The lower bound rises with every step, and the fit stops when it no longer does.

ConvergenceDisplay.from_estimator(model)
plt.show()
