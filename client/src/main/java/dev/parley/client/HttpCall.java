package dev.parley.client;

import org.jspecify.annotations.Nullable;

/// One request, without the address of the server.
///
/// `body` is sent as JSON, `key` as `Idempotency-Key`. Every call may be repeated if its reply was
/// lost: the key makes a POST idempotent.
record HttpCall(String method, String path, @Nullable Object body, @Nullable String key) {

  static HttpCall get(String path) {
    return new HttpCall("GET", path, null, null);
  }

  static HttpCall delete(String path) {
    return new HttpCall("DELETE", path, null, null);
  }

  static HttpCall patch(String path, Object body) {
    return new HttpCall("PATCH", path, body, null);
  }

  static HttpCall post(String path, Object body, String key) {
    return new HttpCall("POST", path, body, key);
  }

  @Override
  public String toString() {
    return method + " " + path;
  }
}
