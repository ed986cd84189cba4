"""The public estimators: each validates, assembles a model, calls inference and stores."""
