"""What a test of several parts says when one does not hold."""


class Failed(Exception):
    pass


def expect(holds, what, text):
    if not holds:
        raise Failed(f"{what}\n{text}")
