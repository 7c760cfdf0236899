"""Settings as values: folders, variables, keys, endpoints, and what never shows."""

import json
import os
import pickle
import stat
import types
from pathlib import Path

import msgspec
import pytest

from silu.config import (
    Endpoint,
    EndpointFile,
    Environment,
    KeyStore,
    Paths,
    Preferences,
    Secret,
    Settings,
    mask,
)
from silu.config.dotenv import parse_dotenv
from silu.config.secrets import mask_body
from silu.config.settings import load_preferences, save_preferences
from silu.types.errors import UserError

KEY = "sk-proj-0123456789abcdefghij"


class TestPaths:
    def test_silu_home_holds_data_and_config(self):
        paths = Paths.find({"SILU_HOME": "/srv/silu", "XDG_DATA_HOME": "/ignored"})
        assert (paths.data, paths.config) == (Path("/srv/silu"), Path("/srv/silu/config"))

    def test_xdg_variables_are_followed(self):
        paths = Paths.find({"XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "/c"})
        assert (paths.data, paths.config) == (Path("/d/silu"), Path("/c/silu"))

    def test_without_variables_the_platforms_folders_are_used(self):
        paths = Paths.find({"XDG_DATA_HOME": "/d"})
        assert paths.data == Path("/d/silu") and paths.config.name == "silu"
        assert Paths.find({"XDG_CONFIG_HOME": "/c"}).data.name == "silu"
        assert Paths.find({}).learned_file.name == "learned.json"

    def test_home_may_be_written_with_a_tilde(self):
        assert Paths.find({"SILU_HOME": "~/x"}).data == Path.home() / "x"


class TestSecrets:
    def test_a_secret_shows_nowhere(self):
        secret = Secret(KEY)
        assert secret.reveal() == KEY
        assert KEY not in f"{secret} {secret!r} {[secret]} { ({'k': secret}) }"
        with pytest.raises(TypeError):
            pickle.dumps(secret)
        assert secret == Secret(KEY) and secret != Secret("x") and secret != KEY
        assert len({secret, Secret(KEY)}) == 1

    @pytest.mark.parametrize(
        "text",
        [
            "key sk-" + "ant-api03-abcdefghij0123456789 refused",
            "Authorization: Bearer abcdef123456",
            '{"x-api-key": "abcdef123456"}',
            "https://host/v1?key=abcdef123456&x=1",
            "api_key=abcdef123456",
            "AIzaSyA1234567890abcdefghijklmno",
            "aws AKIAABCDEFGHIJKLMNOP",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijkl",
        ],
    )
    def test_what_looks_like_a_key_is_masked(self, text):
        shown = mask(text)
        assert "***" in shown
        for word in ("abcdef123456", "abcdefghij", "AKIA", "AIza", "eyJ"):
            assert word not in shown

    def test_ordinary_words_stay(self):
        text = "use sk-learn and the key-value store; a token of 5; api keys are in settings"
        assert mask(text) == text

    def test_configured_secrets_are_masked_whatever_they_look_like(self, settings_of):
        settings = settings_of({"MY_TOKEN": "correct horse battery"})
        assert settings.mask("it said correct horse battery!") == "it said ***!"

    def test_a_variable_an_endpoint_names_is_a_secret(self, paths):
        settings = Settings.load(paths, {"BLUE": "forget me not"})
        settings.endpoints.put(Endpoint(name="x", url="http://x", key_env="BLUE"))
        assert settings.mask("say forget me not") == "say ***"

    def test_a_short_value_is_no_secret(self):
        assert mask("abc def", [Secret("abc")]) == "abc def"
        assert mask_body(b'{"x":"abc"}', [Secret("abc")]) == b'{"x":"abc"}'

    def test_a_body_is_shown_as_sent_but_for_the_secrets_in_it(self):
        said = ['correct "horse" é', "Bearer abcdef123456 is how the header looks"]
        shown = mask_body(msgspec.json.encode(said), [Secret('"horse" é')])
        assert msgspec.json.decode(shown) == ["correct ***", said[1]]


@pytest.fixture
def paths(tmp_path):
    return Paths.under(tmp_path / "home")


@pytest.fixture
def settings_of(paths):
    return lambda env: Settings.load(paths, env)


class TestDotenv:
    def test_names_quotes_comments_and_exports_are_read(self):
        text = (
            '# note\nA=1\nexport B = two words \nC=\'a # b\'\nD="x\\ny \\"q\\" \\z"\n'
            'E=ab#cd # tail\nbroken\n1X=3\nF=\nG="open\nH=a\t# tail\n'
        )
        assert parse_dotenv(text) == {
            "A": "1",
            "B": "two words",
            "C": "a # b",
            "D": 'x\ny "q" \\z',
            "E": "ab#cd",
            "F": "",
            "G": "open",
            "H": "a",
        }

    def test_the_config_folders_file_is_read_and_the_process_wins(self, paths):
        paths.config.mkdir(parents=True)
        paths.dotenv_file.write_text("X_KEY=from-file\nY_KEY=y\n")
        settings = Settings.load(paths, {"X_KEY": "from-process"})
        assert settings.env.get("X_KEY") == "from-process" and settings.env.get("Y_KEY") == "y"

    def test_another_file_is_read_only_when_it_is_named(self, paths, tmp_path):
        other = tmp_path / "my.env"
        other.write_text("X_KEY=here\n")
        assert Settings.load(paths, {}).env.get("X_KEY") is None
        assert Settings.load(paths, {}, dotenv=other).env.get("X_KEY") == "here"
        with pytest.raises(UserError, match="no file"):
            Settings.load(paths, {}, dotenv=tmp_path / "none.env")


class TestKeys:
    def test_a_saved_key_lies_in_a_file_only_the_person_can_read(self, paths):
        store = KeyStore(paths.keys_file, keyring=None)
        store.save("deepseek", KEY)
        assert stat.S_IMODE(paths.keys_file.stat().st_mode) == 0o600
        assert KeyStore(paths.keys_file, keyring=None).get("deepseek") == Secret(KEY)
        assert store.names() == ["deepseek"] and store.all() == [Secret(KEY)]
        store.save("deepseek", "")
        assert store.get("deepseek") is None and store.names() == []
        store.remove("never")

    def test_the_environment_wins_over_a_saved_key(self, paths):
        KeyStore(paths.keys_file, keyring=None).save("v", "saved-key")
        assert Settings.load(paths, {}).key("v", ("A", "B")) == (Secret("saved-key"), "file")
        found = Settings.load(paths, {"B": " from-env "}).key("v", ("A", "B"))
        assert found == (Secret("from-env"), "env:B")
        assert Settings.load(paths, {}).key("w", ("A",)) is None

    def test_a_keyring_keeps_the_key_out_of_the_file(self, paths):
        ring = Ring()
        store = KeyStore(paths.keys_file, keyring=ring)
        store.save("v", KEY)
        assert KEY not in paths.keys_file.read_text()
        assert store.get("v") == Secret(KEY) and store.get("v") == Secret(KEY)
        assert ring.asked == 1
        store.remove("v")
        assert ring.held == {} and store.get("v") is None

    def test_a_keyring_that_refuses_leaves_the_key_to_the_file(self, paths):
        store = KeyStore(paths.keys_file, keyring=Ring(refuses=True))
        store.save("v", KEY)
        assert json.loads(paths.keys_file.read_text()) == {"v": KEY}

    def test_a_key_in_a_keyring_that_is_gone_is_no_key(self, paths):
        KeyStore(paths.keys_file, keyring=Ring()).save("v", KEY)
        assert KeyStore(paths.keys_file, keyring=None).get("v") is None
        assert KeyStore(paths.keys_file, keyring=Ring()).get("v") is None

    def test_a_keyring_without_a_real_backend_is_not_used(self, paths, monkeypatch):
        import sys

        module = types.ModuleType("keyring")
        module.get_keyring = lambda: types.SimpleNamespace(priority=0)
        monkeypatch.setitem(sys.modules, "keyring", module)
        KeyStore(paths.keys_file).save("v", KEY)
        assert json.loads(paths.keys_file.read_text()) == {"v": KEY}

    def test_without_the_keyring_package_the_file_is_used(self, paths, monkeypatch):
        import sys

        monkeypatch.setitem(sys.modules, "keyring", None)
        KeyStore(paths.keys_file).save("v", KEY)
        assert json.loads(paths.keys_file.read_text()) == {"v": KEY}


class Ring:
    """What the `keyring` package offers, held in memory: an outside service, not one of ours."""

    __name__ = "tests.config.ring"

    def __init__(self, *, refuses=False):
        self.held, self.asked, self.refuses = {}, 0, refuses

    def set_password(self, service, name, value):
        from tests.config.ring.errors import KeyringError

        if self.refuses:
            raise KeyringError("locked")
        self.held[service, name] = value

    def get_password(self, service, name):
        self.asked += 1
        return self.held.get((service, name))

    def delete_password(self, service, name):
        del self.held[service, name]


class TestEndpoints:
    def test_another_process_sees_an_endpoint_at_once(self, paths):
        here, there = EndpointFile(paths.endpoints_file), EndpointFile(paths.endpoints_file)
        assert there.all() == {}
        here.put(Endpoint(name="box", url="http://10.0.0.2:8000/v1", models=("m",)))
        assert there.get("box").models == ("m",)
        here.put(Endpoint(name="box", url="http://10.0.0.3:8000/v1"))
        assert there.get("box").url.endswith("3:8000/v1")
        assert here.remove("box") and not here.remove("box")
        assert there.all() == {} and there.path == paths.endpoints_file
        assert stat.S_IMODE(paths.endpoints_file.stat().st_mode) == 0o600

    @pytest.mark.parametrize("name", ["", "a/b", "with space", "-x", "x" * 80])
    def test_a_name_that_cannot_stand_in_a_reference_is_refused(self, paths, name):
        with pytest.raises(UserError, match="name"):
            EndpointFile(paths.endpoints_file).put(Endpoint(name=name, url="http://x"))

    @pytest.mark.parametrize("url", ["", "ftp://x", "localhost:8000", "http://"])
    def test_something_that_is_no_address_is_refused(self, paths, url):
        with pytest.raises(UserError) as error:
            EndpointFile(paths.endpoints_file).put(Endpoint(name="x", url=url))
        assert error.value.setting == "url"

    def test_a_damaged_file_is_named_and_left_as_it_is(self, paths):
        paths.config.mkdir(parents=True)
        paths.endpoints_file.write_text("{ not json")
        file = EndpointFile(paths.endpoints_file)
        with pytest.raises(UserError) as error:
            file.put(Endpoint(name="x", url="http://x"))
        assert error.value.setting == str(paths.endpoints_file)
        assert paths.endpoints_file.read_text() == "{ not json"

    def test_a_write_that_fails_leaves_the_old_file(self, paths, monkeypatch):
        file = EndpointFile(paths.endpoints_file)
        file.put(Endpoint(name="x", url="http://x"))

        def full(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="space"):
            file.put(Endpoint(name="y", url="http://y"))
        assert list(file.all()) == ["x"]
        names = {path.name for path in paths.config.iterdir()}
        assert names == {"endpoints.json", ".endpoints.json.lock"}

    def test_a_trial_endpoint_stands_before_a_saved_one_and_is_not_saved(self, paths):
        settings = Settings.load(paths, {})
        settings.endpoints.put(Endpoint(name="x", url="http://old"))
        trial = settings.trying(Endpoint(name="x", url="http://new"), KEY)
        assert trial.endpoint("x").url == "http://new" and trial.endpoint("y") is None
        assert trial.key("x", ()) == (Secret(KEY), "given")
        assert KEY not in trial.mask(f"said {KEY}")
        assert settings.endpoint("x").url == "http://old" and settings.key("x", ()) is None
        assert settings.trying(Endpoint(name="x", url="http://n")).key("x", ()) is None


class TestPreferences:
    def test_what_is_saved_is_loaded_and_variables_win(self, paths):
        save_preferences(paths, Preferences(default_model="a/b", fallback=("c/d",)))
        settings = Settings.load(paths, {})
        assert settings.preferences.default_model == "a/b"
        env = {
            "SILU_MODEL": "x/y",
            "SILU_FALLBACK": "p/q, r/s",
            "SILU_THINKING": "off",
            "SILU_LANGUAGE": "zh_CN.UTF-8",
            "SILU_LOCAL_SERVERS": "no",
        }
        settings = Settings.load(paths, env)
        assert settings.preferences == Preferences(
            default_model="x/y",
            fallback=("p/q", "r/s"),
            thinking_enabled=False,
            language="zh",
            local_servers=False,
        )
        assert load_preferences(paths).default_model == "a/b"
        assert settings.with_preferences(Preferences()).preferences.default_model == "x/y"

    def test_a_switch_that_is_neither_on_nor_off_names_the_variable(self, paths):
        with pytest.raises(UserError) as error:
            Settings.load(paths, {"SILU_THINKING": "maybe"})
        assert error.value.setting == "SILU_THINKING"
        assert Settings.load(paths, {"SILU_THINKING": "1"}).preferences.thinking_enabled

    def test_neither_settings_nor_the_environment_show_values(self, settings_of):
        settings = settings_of({"A_KEY": KEY})
        assert KEY not in repr(settings) + repr(settings.env) + str(vars(Environment))
