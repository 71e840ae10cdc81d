"""Certificates for tests: some are made by `baton cert`, others have contents that it would never write."""
import os
import ssl
import subprocess

from baton import BATON

# The configuration that `openssl ca` needs: a CA that signs anything.
SETTINGS = """
[ca]
default_ca = any
[any]
database = {folder}/index.txt
new_certs_dir = {folder}
serial = {folder}/serial
default_md = sha256
policy = anything
x509_extensions = leaf
unique_subject = no
[anything]
commonName = supplied
[leaf]
subjectAltName = {names}
extendedKeyUsage = {usage}
"""


class Certificates:
    """A folder with a CA. Certificates are made on demand."""

    def __init__(self, folder):
        self.folder = folder
        self.run(BATON, "cert", "ca", folder)

    @staticmethod
    def run(*words):
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, role, name):
        if not os.path.exists(self.path(name + ".crt")):
            self.run(BATON, "cert", role, name, "--ca", self.folder)
        return self.path(name + ".crt"), self.path(name + ".key")

    def options(self, name, ca=None):
        """Returns the options of a node with that name."""
        certificate, key = self.make("node", name)
        return ["--tls-ca", ca or self.path("ca.crt"), "--tls-cert", certificate, "--tls-key", key]

    def odd(self, file, name, start="20200101000000Z", end="20400101000000Z", uri="baton:node:", usage="serverAuth,clientAuth", more=""):
        """Makes file.crt and file.key with times or names that `baton cert` would not use."""
        certificate, key = self.path(file + ".crt"), self.path(file + ".key")
        for path, text in (("index.txt", ""), ("serial", "1000\n"),
                           ("settings", SETTINGS.format(folder=self.folder, names=f"URI:{uri}{name}{more}", usage=usage))):
            with open(self.path(path), "w", encoding="ascii") as out:
                out.write(text)
        self.run("openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=" + name,
                 "-keyout", key, "-out", self.path("request"))
        self.run("openssl", "ca", "-batch", "-notext", "-config", self.path("settings"), "-cert", self.path("ca.crt"), "-keyfile",
                 self.path("ca.key"), "-in", self.path("request"), "-out", certificate, "-startdate", start, "-enddate", end)
        return certificate, key

    def context(self, pair=None, versions=(ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_3)):
        """Returns the TLS context of a program in Python that connects, with or without this certificate and key."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version, context.maximum_version = versions
        context.check_hostname = False
        context.load_verify_locations(self.path("ca.crt"))
        if pair is not None:
            context.load_cert_chain(*pair)
        return context
