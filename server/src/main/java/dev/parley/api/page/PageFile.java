package dev.parley.api.page;

import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.Sha256;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.zip.GZIPOutputStream;

/// A file of the page, plain and compressed.
@SuppressWarnings("ArrayRecordComponent") // Never compared, and written unchanged.
record PageFile(String contentType, byte[] plain, byte[] gzip, String tag) {

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
