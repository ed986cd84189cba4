"""The JSON interface: FastAPI routes over a `Studio`, and the page that uses them."""
