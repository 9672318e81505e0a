"""What all tests share: property tests take as long as a busy machine needs."""

from hypothesis import settings

settings.register_profile("project", deadline=None)
settings.load_profile("project")
