"""Give the client folders one import name, `pond.adapters.<client>`, in a wheel and in a checkout."""

from pond._locate import adapters_dir

__path__ = [str(adapters_dir())]
