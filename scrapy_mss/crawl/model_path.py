"""Where the model of a project's crawls is, for the crawls and for the commands that read it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.utils.job import job_dir
from scrapy.utils.project import data_path

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

MODEL_FILE = "mss/model"


def model_path(settings: BaseSettings, named: str) -> Path:
    """The file *named* by MSS_MODEL, else one in the JOBDIR, else one in the folder `.scrapy`."""
    if named:
        return Path(named)
    folder = job_dir(settings)
    return Path(folder) / MODEL_FILE if folder else Path(data_path(MODEL_FILE))
