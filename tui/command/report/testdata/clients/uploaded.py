"""What the fake clients beside this file were given, in the file UPLOADED."""
import os

file = open(os.environ["UPLOADED"], "w") if "UPLOADED" in os.environ else None


def head(project, name, config):
    print(project, name, config["task"], config["seed"], file=file)


def number(step, name, value):
    print(step, name, "%.9g" % value, file=file)
