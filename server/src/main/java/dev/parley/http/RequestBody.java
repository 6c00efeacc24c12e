package dev.parley.http;

import dev.parley.http.Problem.HttpProblemException;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/// A request's body. It is read at most once, and never beyond the limit. For one thread.
final class RequestBody {

  private static final int CHUNK = 8 * 1024;
  private static final String JSON = "application/json";

  /// A request without a body, such as a bare `curl -X POST`, asks for every default.
  private static final byte[] EMPTY_OBJECT = {'{', '}'};

  private final InputStream in;
  private final long length;
  private final HttpLimits httpLimits;
  private final Time time;
  private byte @Nullable [] bytes;

  /// @param length the value of `Content-Length`, or -1
  RequestBody(InputStream in, long length, HttpLimits httpLimits, Time time) {
    this.in = in;
    this.length = length;
    this.httpLimits = httpLimits;
    this.time = time;
  }

  byte[] bytes() {
    if (bytes == null) {
      bytes = read();
    }
    return bytes;
  }

  /// The bytes, if they are JSON in UTF-8 that can be stored.
  byte[] json(String contentType) {
    return json(contentType, Set.of(JSON));
  }

  /// The same, for APIs that accept more media types.
  byte[] json(String contentType, Set<String> types) {
    if (contentType.isEmpty() && bytes().length == 0) {
      return EMPTY_OBJECT.clone();
    }
    if (!types.contains(mediaType(contentType))) {
      throw new HttpProblemException(
          Problem.of(415, "unsupported-media-type", "the body must be sent as " + JSON));
    }
    var json = bytes();
    if (json.length == 0) {
      throw new Rejection.Invalid("invalid-json", "a JSON object is needed");
    }
    var text = decode(json);
    if (text.toLowerCase(Locale.ROOT).contains("\\ud")) {
      checkSurrogates(json);
    }
    return json;
  }

  private byte[] read() {
    if (length > httpLimits.bodyBytes()) {
      throw tooLarge();
    }
    var deadline = time.deadline(httpLimits.bodyTime());
    var chunks = new ArrayList<byte[]>();
    var size = 0;
    var chunk = new byte[CHUNK];
    try {
      for (var n = in.read(chunk); n >= 0; n = in.read(chunk)) {
        size += n;
        if (size > httpLimits.bodyBytes()) {
          throw tooLarge();
        }
        if (time.remaining(deadline) < 0) {
          throw slow();
        }
        chunks.add(Arrays.copyOf(chunk, n));
      }
    } catch (IOException gone) {
      if (gone.getCause() instanceof java.util.concurrent.TimeoutException) {
        throw slow();
      }
      throw incomplete();
    }
    return join(chunks, size);
  }

  private Rejection tooLarge() {
    return new Rejection.TooLarge(
        "body-too-large", "a body may have at most " + httpLimits.bodyBytes() + " bytes");
  }

  private static HttpProblemException slow() {
    return new HttpProblemException(
        Problem.of(408, "request-timeout", "the body did not arrive in time"));
  }

  private static HttpProblemException incomplete() {
    return new HttpProblemException(
        Problem.of(400, "incomplete-body", "the connection ended before the whole body arrived"));
  }

  private static byte[] join(List<byte[]> chunks, int size) {
    var all = ByteBuffer.allocate(size);
    chunks.forEach(all::put);
    return all.array();
  }

  private static String mediaType(String contentType) {
    var semicolon = contentType.indexOf(';');
    var type = semicolon < 0 ? contentType : contentType.substring(0, semicolon);
    return type.strip().toLowerCase(Locale.ROOT);
  }

  static String decode(byte[] json) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(json)).toString();
    } catch (CharacterCodingException malformed) {
      throw new Rejection.Invalid("invalid-utf8", "the body is not UTF-8");
    }
  }

  /// An escaped unpaired surrogate is valid JSON but not valid text: the server could read it but
  /// never write it.
  private static void checkSurrogates(byte[] json) {
    try {
      checkSurrogates(Json.mapper().readTree(json));
    } catch (JacksonException malformed) {
      // Reading the record reports the error and its position.
    }
  }

  static void checkSurrogates(JsonNode node) {
    if (node.isString()) {
      checkSurrogates(node.asString());
    }
    node.propertyNames().forEach(RequestBody::checkSurrogates);
    node.forEach(RequestBody::checkSurrogates);
  }

  private static void checkSurrogates(String text) {
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
      throw new Rejection.Invalid("invalid-utf8", "a string has an unpaired surrogate");
    }
  }
}
