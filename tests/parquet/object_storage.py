"""An object storage in a thread of this process: what S3's protocol needs for reading, over HTTP."""

import http.server
import re
import threading
import urllib.parse


class Storage:
    """Serves `objects`, {"bucket/key": bytes}, until `close`; `requests` are the methods, paths and ranges that were asked for."""

    def __init__(self):
        self.objects, self.requests = {}, []
        storage = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def do_HEAD(self):
                self._answer(with_body=False)

            def do_GET(self):
                self._answer(with_body=True)

            def _answer(self, with_body):
                path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path).lstrip("/")
                wanted = self.headers.get("Range")
                storage.requests.append((self.command, path, wanted))
                data = storage.objects.get(path)
                if data is None:
                    self._send(404, b"<Error><Code>NoSuchKey</Code></Error>", {}, with_body)
                    return
                if not wanted:
                    self._send(200, data, {}, with_body)
                    return
                first, last = re.fullmatch(r"bytes=(\d+)-(\d+)", wanted).groups()
                part = data[int(first) : int(last) + 1]
                where = f"bytes {first}-{int(first) + len(part) - 1}/{len(data)}"
                self._send(206, part, {"Content-Range": where}, with_body)

            def _send(self, status, body, headers, with_body):
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("ETag", '"1"')
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                if with_body:
                    self.wfile.write(body)

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
