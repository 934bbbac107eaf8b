"""A whole federation on this machine: a SuperLink with TLS, SuperNodes with keys of their own, one run, and the end.

    python deploy.py --nodes 4 --run-config 'num-server-rounds=3'
    python deploy.py --nodes 20 --simulation

Everything listens on 127.0.0.1 on ports that are free, lives in one folder (certificates, keys, logs), and is stopped
when the run ends, fails, takes too long or is interrupted. On real machines the same commands run one per machine:
the README lists them.
"""

import argparse
import contextlib
import datetime
import ipaddress
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

APP = Path(__file__).resolve().parent
HOST = "127.0.0.1"
CONNECTION = "loopback"
QUIET = {
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    "FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    # Every message starts a process: look for work ten times a second instead of once.
    "FLWR_SUPEREXEC_TASK_POLL_INTERVAL": "0.1",
    # Several nodes share the cores of this machine.
    "OMP_NUM_THREADS": "1",
}
_START_S, _COMMAND_S, _STOP_S = 300.0, 300.0, 8.0
"""An idle machine needs a few seconds for each; one that others use too can need minutes."""
_LOOK_S = 4.0
"""Asking Flower for the status costs seconds of CPU, which the nodes need too."""


class DeploymentError(Exception):
    """Something of the federation did not come up, or the run did not end well."""


class Deployment:
    """A federation in a folder; as a context it is stopped whatever happens.

    `with Deployment(folder) as federation: federation.start(nodes=2); federation.run(...)`
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.nodes: dict[int, subprocess.Popen[bytes]] = {}
        self._superlink: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Deployment":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self, nodes: int) -> None:
        """A SuperLink and `nodes` SuperNodes, their keys made known to it."""
        self.start_superlink()
        with ThreadPoolExecutor(os.cpu_count()) as several:  # every command takes seconds to start
            list(several.map(self.register, range(nodes)))
        for node in range(nodes):
            self.start_node(node, nodes)
        self.wait_for_nodes(nodes)

    def simulate(self, nodes: int, run_config: str = "") -> str:
        """The same app with all nodes emulated by Flower's simulation engine (Ray); returns the id of the run."""
        self.start_superlink("--simulation")
        return self.submit(run_config, "--federation-config", f"num-supernodes={nodes} client-resources-num-cpus=1")

    def start_superlink(self, *options: str) -> None:
        """TLS for everybody who connects, and only nodes whose key is registered.

        Keys and runs are in a file: a SuperLink that is started again knows its nodes, who come back on their own.
        """
        certificates = self.folder / "certificates"
        if not certificates.exists():
            write_certificates(certificates)
        self._write_connection()
        self._superlink = self._spawn(
            "superlink",
            "flower-superlink",
            *("--host", HOST, "--port", str(self.port)),
            *("--ssl-ca-certfile", str(certificates / "ca.crt")),
            *("--ssl-certfile", str(certificates / "server.pem")),
            *("--ssl-keyfile", str(certificates / "server.key")),
            "--disable-runtime-dependency-installation",
            *(options or ("--enable-supernode-auth", "--database", str(self.folder.resolve() / "superlink.db"))),
        )
        self._wait_until_healthy()

    def kill_superlink(self) -> None:
        """As when its machine loses power: it says nothing, and the apps that it runs end with it."""
        assert self._superlink is not None
        _signal_group(self._superlink, signal.SIGKILL)
        self._superlink.wait()
        self._end_left_behind("superlink")

    def register(self, node: int) -> None:
        """Make a key for a node and tell its public half to the SuperLink."""
        public_key = write_node_key(self.folder / "keys", node)
        self.flwr("supernode", "register", str(public_key), CONNECTION)

    def start_node(self, node: int, partitions: int) -> subprocess.Popen[bytes]:
        """A SuperNode that holds one partition of the data; its key need not be registered."""
        key = write_node_key(self.folder / "keys", node).with_suffix("")
        process = self._spawn(
            f"node-{node}",
            "flower-supernode",
            *("--superlink", f"{HOST}:{self.port}"),
            *("--root-certificates", str(self.folder / "certificates" / "ca.crt")),
            *("--auth-supernode-private-key", str(key)),
            *("--host", HOST, "--port", str(free_port())),
            *("--node-config", f"partition-id={node} num-partitions={partitions}"),
        )
        self.nodes[node] = process
        return process

    def wait_for_nodes(self, count: int) -> None:
        """Until so many nodes are online."""
        end = time.monotonic() + _START_S
        while (online := self.online()) < count:
            if time.monotonic() > end:
                raise DeploymentError(f"{online} of {count} nodes are online after {_START_S:.0f} s{self._logs()}")
            time.sleep(1.0)

    def online(self) -> int:
        """How many nodes the SuperLink counts as connected."""
        found = self.flwr("supernode", "list", CONNECTION)
        return sum(node["status"] == "online" for node in found["nodes"])

    def submit(self, run_config: str = "", *options: str) -> str:
        """Start the app on the federation; returns the id of the run."""
        options = (*options, "--run-config", run_config) if run_config else options
        return str(self.flwr("run", str(APP), CONNECTION, *options)["run-id"])

    def status(self, run: str) -> str:
        """`running`, `finished:completed`, `finished:failed` and so on."""
        return str(self.flwr("list", CONNECTION, "--run-id", run)["runs"][0]["status"])

    def wait(self, run: str, timeout_s: float) -> str:
        """The status at the end of the run, or at the end of our patience."""
        end = time.monotonic() + timeout_s
        while not (status := self.status(run)).startswith("finished") and time.monotonic() < end:
            time.sleep(_LOOK_S)
        return status

    def run_log(self, run: str) -> str:
        """What the server's app said during a run."""
        return self._flwr("log", run, CONNECTION, "--show").stdout

    def log(self, name: str) -> str:
        """What `superlink` or `node-0` said so far."""
        return (self.folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")

    def flwr(self, *arguments: str) -> dict[str, Any]:
        """Run Flower's command line and return its answer."""
        done = self._flwr(*arguments, "--format", "json")
        try:
            answer: dict[str, Any] = json.loads(done.stdout)
        except json.JSONDecodeError:
            answer = {"error-message": done.stderr or done.stdout}
        if not answer.get("success"):  # the exit code is 0 for failures too
            why = " ".join(str(answer.get("error-message")).split())
            raise DeploymentError(f"flwr {' '.join(arguments)} failed: {why}{self._logs()}")
        return answer

    def _flwr(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [program("flwr"), *arguments],
            env=self._environment("cli"),
            capture_output=True,
            text=True,
            timeout=_COMMAND_S,
            check=False,
        )

    def stop(self) -> None:
        """Nodes first, so that they do not complain of a lost server; then whatever they left behind."""
        started = [*self.nodes.values(), *([self._superlink] if self._superlink else [])]
        for process in started:
            _signal_group(process, signal.SIGTERM)
        end = time.monotonic() + _STOP_S
        for process in started:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(end - time.monotonic(), 0.1))
            _signal_group(process, signal.SIGKILL)
            process.wait()
        self._end_left_behind()

    def _end_left_behind(self, name: str = "") -> None:
        """Flower gives every app a session of its own, out of reach of its parent's group. One that is just being
        started, or takes its time to die, is there when one looks again."""
        end = time.monotonic() + _STOP_S
        while (left := self.left_behind(name)) and time.monotonic() < end:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)

    def left_behind(self, name: str = "") -> list[int]:
        """Processes that work in our folder, or for one program of ours, by their environment; only Linux tells."""
        home = self.folder.resolve() / "homes" / name
        mark = f"FLWR_HOME={home}{chr(0) if name else os.sep}".encode()
        found = []
        for entry in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if mark in entry.read_bytes():
                    found.append(int(entry.parent.name))
        return found

    def _spawn(self, name: str, *command: str) -> "subprocess.Popen[bytes]":
        """In a process group of its own, with its output in a log file."""
        with open(self.folder / f"{name}.log", "wb") as log:
            return subprocess.Popen(
                [program(command[0]), *command[1:]],
                env=self._environment(name),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _environment(self, name: str) -> dict[str, str]:
        """Each has a Flower home of its own; the programs of this Python come first on the path."""
        home = self.folder.resolve() / "homes" / name
        home.mkdir(parents=True, exist_ok=True)
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        return {**os.environ, **QUIET, "PATH": path, "FLWR_HOME": str(home)}

    def _write_connection(self) -> None:
        """Tell Flower's command line where the SuperLink is and whose certificate to trust."""
        home = Path(self._environment("cli")["FLWR_HOME"])
        ca = (self.folder / "certificates" / "ca.crt").resolve()
        (home / "config.toml").write_text(
            f'[superlink]\ndefault = "{CONNECTION}"\n\n[superlink.{CONNECTION}]\n'
            f'address = "{HOST}:{self.port}"\nroot-certificates = "{ca}"\n'
        )

    def _wait_until_healthy(self) -> None:
        assert self._superlink is not None
        trust = ssl.create_default_context(cafile=str(self.folder / "certificates" / "ca.crt"))
        end = time.monotonic() + _START_S
        while True:
            try:
                urllib.request.urlopen(f"https://{HOST}:{self.port}/health", context=trust, timeout=2.0).close()
                return
            except OSError as error:
                if self._superlink.poll() is not None or time.monotonic() > end:
                    raise DeploymentError(f"the SuperLink does not answer ({error}){self._logs()}") from None
                time.sleep(0.2)

    def _logs(self) -> str:
        return f"; see the logs in {self.folder}"


def program(name: str) -> str:
    """Flower's program beside this Python, else the one on the path."""
    beside = Path(sys.executable).with_name(name)
    return str(beside) if beside.exists() else name


def free_port() -> int:
    """A port that nobody uses at the moment."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def write_certificates(folder: Path) -> None:
    """`ca.crt`, and `server.pem` with `server.key` signed by it, for localhost and 127.0.0.1."""
    folder.mkdir(parents=True, exist_ok=True)
    ca_key, server_key = ec.generate_private_key(ec.SECP384R1()), ec.generate_private_key(ec.SECP384R1())
    ca_name = _name("WiseFL example CA")
    ca = (
        _certificate(ca_name, ca_name, ca_key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(ca_key, hashes.SHA384())
    )
    places = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address(HOST))]
    server = (
        _certificate(_name("localhost"), ca_name, server_key)
        .add_extension(x509.SubjectAlternativeName(places), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(ca_key, hashes.SHA384())
    )
    (folder / "ca.crt").write_bytes(ca.public_bytes(serialization.Encoding.PEM))
    (folder / "server.pem").write_bytes(server.public_bytes(serialization.Encoding.PEM))
    _write_secret(folder / "server.key", server_key, serialization.PrivateFormat.PKCS8)


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _certificate(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    """Valid from an hour ago, since clocks differ, for ten days."""
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=10))
    )


def write_node_key(folder: Path, node: int) -> Path:
    """A node's key pair as `ssh-keygen -t ecdsa -b 384` makes it, unless it is there; returns the public half."""
    private = folder / f"node-{node}"
    public = private.with_suffix(".pub")
    if not public.exists():
        folder.mkdir(parents=True, exist_ok=True)
        key = ec.generate_private_key(ec.SECP384R1())
        _write_secret(private, key, serialization.PrivateFormat.OpenSSH)
        public.write_bytes(
            key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
        )
    return public


def _write_secret(path: Path, key: ec.EllipticCurvePrivateKey, form: serialization.PrivateFormat) -> None:
    """Readable by its owner alone from the first byte on."""
    content = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)


def _signal_group(process: "subprocess.Popen[bytes]", what: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, what)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="Run the app on a federation on this machine, with TLS and node keys."
    )
    parser.add_argument("--nodes", type=int, default=4, help="SuperNodes (default 4)")
    parser.add_argument("--simulation", action="store_true", help="emulate the nodes with Ray instead")
    parser.add_argument("--run-config", default="", help="as for flwr run: 'num-server-rounds=3 dataset=\"digits\"'")
    parser.add_argument("--timeout", type=float, default=1800.0, help="seconds that the run may take (default 1800)")
    parser.add_argument("--folder", type=Path, help="keep keys and logs here (default: a temporary folder)")
    chosen = parser.parse_args(arguments)
    # A polite kill has to stop the nodes too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with contextlib.ExitStack() as stack:
        folder = chosen.folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wisefl-flower-")))
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with Deployment(folder) as federation:
                return _federate(federation, chosen)
        except (DeploymentError, subprocess.TimeoutExpired) as error:
            print(f"deploy.py: {error}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            return 130


def _federate(federation: Deployment, chosen: argparse.Namespace) -> int:
    """Start everything, run the app, and say how it ended."""
    kind = f"{chosen.nodes} {'simulated nodes' if chosen.simulation else 'SuperNodes'}"
    print(f"starting a SuperLink and {kind} on {HOST}, logs in {federation.folder}", flush=True)
    if chosen.simulation:
        run = federation.simulate(chosen.nodes, chosen.run_config)
    else:
        federation.start(chosen.nodes)
        run = federation.submit(chosen.run_config)
    print(f"run {run} is under way", flush=True)
    status = federation.wait(run, chosen.timeout)
    print(f"run {run} {status}", flush=True)
    if status == "finished:completed":
        return 0
    print(federation.run_log(run)[-4000:], file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
