"""The room: a pure fold over its log.

``decide`` turns a command into an entry or a refusal, ``fold`` turns an entry into the next room and its events,
``fire`` says what is due. Nothing here does I/O, reads a clock or draws a number.
"""
