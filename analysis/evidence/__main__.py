from .cli import main
from .errors import run

run(main)
