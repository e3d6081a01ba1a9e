"""The compiled part, which an installation without a compiler goes without; all else is setup.cfg."""

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension("scrapy_mss.markup._scan", ["scrapy_mss/markup/_scan.pyx"], optional=True)
    ]
)
