"""The two functions that sources ask when they are made."""


def IsInsituInput(name):
    return False


def CreateProducer(name):
    raise AssertionError(f"'{name}' is no input")
