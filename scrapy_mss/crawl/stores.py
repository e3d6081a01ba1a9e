"""The one place that chooses between files and a server for what crawls learn.

A setting names either. Each kind of store is a protocol with both implementations, so the rest of
the crawl does not know the difference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.utils.job import job_dir
from scrapy.utils.project import data_path

from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.redis_store import RedisModelStore
from scrapy_mss.models.store import FileStore, ModelStore
from scrapy_mss.quality.redis_store import RedisQualityStore
from scrapy_mss.quality.store import DayStore, QualityStore
from scrapy_mss.seen.redis_store import RedisSeenStore
from scrapy_mss.seen.store import ArticleStore, SeenStore
from scrapy_mss.sites.redis_store import RedisSiteStore
from scrapy_mss.sites.store import SiteStore, sites_path
from scrapy_mss.sites.unsaved import Store
from scrapy_mss.storage.redis_server import Patience
from scrapy_mss.storage.server_address import is_server

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

MODEL_FILE = "mss/model"
SEEN_FILE = "mss/seen.db"
QUALITY_FILE = "mss/quality.db"


def model_name(settings: BaseSettings, named: str) -> str:
    """What is *named* by MSS_MODEL, else a file in the JOBDIR, else one in the folder `.scrapy`."""
    if named:
        return named
    folder = job_dir(settings)
    return f"{folder}/{MODEL_FILE}" if folder else data_path(MODEL_FILE)


def model_store(name: str, patience: Patience | None = None) -> ModelStore:
    """The store of the model with this *name*, which the commands and the crawls read alike."""
    if is_server(name):
        return RedisModelStore(name, DEFAULT, patience)
    return FileStore(name, DEFAULT)


def site_store(model: str, patience: Patience | None = None) -> Store:
    """The store of the memories of sites that belongs to the *model* of this name."""
    if is_server(model):
        return RedisSiteStore(model, patience)
    return SiteStore(sites_path(FileStore(model, DEFAULT).path))


def quality_store(named: str, patience: Patience | None = None) -> DayStore:
    """What is *named* by MSS_QUALITY_FILE, else a file in `.scrapy`, which jobs share."""
    if is_server(named):
        return RedisQualityStore(named, patience)
    return QualityStore(named or data_path(QUALITY_FILE))


def seen_store(named: str, kept: int, patience: Patience | None = None) -> ArticleStore:
    """What is *named* by MSS_SEEN, else a file in `.scrapy`; articles are *kept* some minutes."""
    if is_server(named):
        store: RedisSeenStore | SeenStore = RedisSeenStore(named, kept, patience)
    else:
        store = SeenStore(story_path(named))
    store.check()
    return store


def story_path(named: str) -> str:
    """The file of stories: that of what was seen, or beside a server one in `.scrapy`."""
    return data_path(SEEN_FILE) if is_server(named) or not named else named
