package dev.parley.client;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// Builds a path with its query; null values are left out.
final class RequestPath {

  private final StringBuilder text;
  private char separator = '?';

  RequestPath(String path) {
    text = new StringBuilder(path);
  }

  RequestPath with(String name, @Nullable Object value) {
    if (value != null) {
      text.append(separator).append(name).append('=');
      text.append(URLEncoder.encode(value.toString(), StandardCharsets.UTF_8));
      separator = '&';
    }
    return this;
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
