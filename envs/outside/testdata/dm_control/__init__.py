__version__ = "0.stand-in"
