"""A stand-in for ParaView's decorators: they list what they are given in `properties` of methods and in `proxies`."""

proxies = {}


class Any:
    """Calls of any name, whose decorators keep the arguments."""

    def __init__(self, kind):
        self.kind = kind

    def __getattr__(self, name):
        def made(*values, **named):
            def decorator(method):
                method.properties = [*getattr(method, "properties", []), (f"{self.kind}.{name}", values, named)]
                return method

            return decorator

        return made


class Proxies:
    @staticmethod
    def reader(file_description, extensions=None, filename_patterns=None, is_directory=False, **named):
        assert extensions is not None or filename_patterns is not None

        def decorator(made):
            proxies[named["name"]] = made, filename_patterns
            return lambda *values: made(*values)  # as with ParaView's, the module has a function of this name

        return decorator


smproperty, smdomain, smhint, smproxy = Any("property"), Any("domain"), Any("hint"), Proxies()
