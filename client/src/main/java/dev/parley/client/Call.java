package dev.parley.client;

import org.jspecify.annotations.Nullable;

/// One request, before it is known where it goes.
///
/// `body` is sent as JSON, `key` as `Idempotency-Key`. Every call may be sent again when its answer was
/// lost: a post does the same thing however often it arrives, because of its key.
record Call(String method, String path, @Nullable Object body, @Nullable String key) {

  static Call get(String path) {
    return new Call("GET", path, null, null);
  }

  static Call delete(String path) {
    return new Call("DELETE", path, null, null);
  }

  static Call patch(String path, Object body) {
    return new Call("PATCH", path, body, null);
  }

  static Call post(String path, Object body, String key) {
    return new Call("POST", path, body, key);
  }

  @Override
  public String toString() {
    return method + " " + path;
  }
}
