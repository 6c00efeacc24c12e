package dev.parley.client;

import org.jspecify.annotations.Nullable;

/// One request, without the address of the server.
///
/// `body` is sent as JSON, `key` as `Idempotency-Key`. Every call may be repeated if its reply was
/// lost: the key makes a POST idempotent.
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
