package dev.parley.api.page;

import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.http.Sha256;
import dev.parley.protocol.Rejection;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.zip.GZIPOutputStream;

/// `GET /` and `/assets/…`: the page for browsers, and a short text for other clients.
///
/// All files are public: the page contains no data, and asks for a token if the API needs one.
/// Files are read on the first request. Safe for use by many threads.
public final class PageRoutes {

  private static final String PLAIN_TEXT =
      """
      Parley: a multi-agent server. Every conversation is an append-only log.

        curl -X POST {url}/api/contexts -H 'Content-Type: application/json' -d '{"contextId":"hello"}'
        curl -X POST {url}/api/contexts/hello/messages -H 'Content-Type: application/json' -d '{"content":"help"}'
        curl -N {url}/api/contexts/hello/stream

      All routes: {url}/openapi.json
      In a browser: {url}/
      """;

  private static final String PAGE = "index.html";

  /// The output of models and tools is displayed, never executed: only the page's own files may
  /// contain code or style.
  private static final String POLICY =
      String.join(
          "; ",
          "default-src 'none'",
          "script-src 'self'",
          "style-src 'self'",
          "img-src 'self' data: blob:",
          // For the browser's own PDF viewer, which gets only PDF files.
          "frame-src blob:",
          "connect-src 'self'",
          "base-uri 'none'",
          "form-action 'none'",
          "frame-ancestors 'none'",
          "require-trusted-types-for 'script'",
          "trusted-types 'none'");

  private static final Map<String, String> PAGE_HEADERS =
      Map.of(
          "Cache-Control", "no-cache",
          "Vary", "Origin, Accept, Accept-Encoding",
          "Content-Security-Policy", POLICY,
          "Cross-Origin-Opener-Policy", "same-origin",
          "Referrer-Policy", "no-referrer");

  /// The names of assets contain a hash of their content.
  private static final Map<String, String> ASSET_HEADERS =
      Map.of(
          "Cache-Control", "public, max-age=31536000, immutable",
          "Vary", "Origin, Accept-Encoding",
          "Content-Security-Policy", "default-src 'none'");

  private final Set<String> assets = assets();
  private final Map<String, PageFile> files = new ConcurrentHashMap<>();

  /// The routes.
  public List<Route> routes() {
    return List.of(
        Route.get(
            "/",
            "Returns the page, or a short introduction",
            ResponseDescription.other("text/html"),
            this::page),
        Route.get(
            "/assets/{name}",
            "Returns a file of the page",
            ResponseDescription.other("application/octet-stream"),
            this::asset));
  }

  private Reply page(Request request) {
    // Most programs accept any type: they get the page, unless they request plain text.
    if (request.wants("text/html") || !request.wants("text/plain")) {
      return file(PAGE).reply(request, PAGE_HEADERS);
    }
    var url = "http://" + request.header("Host").orElse("127.0.0.1:7070");
    var text = PLAIN_TEXT.replace("{url}", url).getBytes(StandardCharsets.UTF_8);
    return new Reply.Bytes(
        200, "text/plain; charset=utf-8", text, Map.of("Vary", "Origin, Accept"));
  }

  private Reply asset(Request request) {
    var name = request.path("name");
    if (!assets.contains(name)) {
      throw new Rejection.NotFound("the page has no such file");
    }
    return file("assets/" + name).reply(request, ASSET_HEADERS);
  }

  private PageFile file(String name) {
    return files.computeIfAbsent(name, PageFile::read);
  }

  private static Set<String> assets() {
    try (var in = PageRoutes.class.getResourceAsStream("assets.txt")) {
      if (in == null) {
        throw new IllegalStateException("the page was not built: run npm run build in ui/page");
      }
      var names = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      return names.lines().collect(Collectors.toUnmodifiableSet());
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  /// A file of the page, plain and compressed.
  @SuppressWarnings("ArrayRecordComponent") // Never compared, and written unchanged.
  private record PageFile(String contentType, byte[] plain, byte[] gzip, String tag) {

    private static final int TAG_CHARACTERS = 32;
    private static final Map<String, String> TYPES =
        Map.of(
            "html", "text/html; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "svg", "image/svg+xml");

    /// Reads the resource `name` beside this class.
    static PageFile read(String name) {
      try (var in = PageFile.class.getResourceAsStream(name)) {
        if (in == null) {
          throw new IllegalStateException("the page lacks " + name);
        }
        var plain = in.readAllBytes();
        var ending = name.substring(name.lastIndexOf('.') + 1);
        var type = TYPES.getOrDefault(ending, "application/octet-stream");
        return new PageFile(type, plain, compressed(plain), tag(plain));
      } catch (IOException broken) {
        throw new UncheckedIOException(broken);
      }
    }

    /// The file, or 304 if the browser has it already.
    Reply reply(Request request, Map<String, String> headers) {
      var all = new HashMap<>(headers);
      var zipped = request.header("Accept-Encoding").filter(it -> it.contains("gzip")).isPresent();
      // Two encodings of one file need two entity tags.
      var entity = "\"" + tag + (zipped ? "-gz\"" : "\"");
      all.put("ETag", entity);
      if (request.header("If-None-Match").filter(known -> known.contains(entity)).isPresent()) {
        return new Reply.Empty(304, all);
      }
      if (zipped) {
        all.put("Content-Encoding", "gzip");
      }
      return new Reply.Bytes(200, contentType, zipped ? gzip : plain, all);
    }

    private static byte[] compressed(byte[] plain) throws IOException {
      var out = new ByteArrayOutputStream(plain.length / 2);
      try (var gzip = new GZIPOutputStream(out)) {
        gzip.write(plain);
      }
      return out.toByteArray();
    }

    private static String tag(byte[] plain) {
      return HexFormat.of().formatHex(Sha256.of(plain)).substring(0, TAG_CHARACTERS);
    }
  }
}
