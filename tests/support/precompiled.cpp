// Nothing: a program without tests, for which the headers are compiled that all test programs share.
