package dev.parley.client;

import dev.parley.protocol.Json;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// One request, before it is known where it goes.
///
/// `key` is sent as `Idempotency-Key`. Only a call that may be `repeated` is sent again when its
/// answer was lost.
record Call(
    String method, String path, byte @Nullable [] body, @Nullable String key, boolean repeated) {

  static Call get(String path) {
    return new Call("GET", path, null, null, true);
  }

  static Call delete(String path) {
    return new Call("DELETE", path, null, null, true);
  }

  static Call patch(String path, Object body) {
    return new Call("PATCH", path, Json.bytes(body), null, true);
  }

  /// A post that does the same thing however often it arrives.
  static Call post(String path, Object body, String key) {
    return new Call("POST", path, Json.bytes(body), key, true);
  }

  @Override
  public String toString() {
    return method.toUpperCase(Locale.ROOT) + " " + path;
  }
}
