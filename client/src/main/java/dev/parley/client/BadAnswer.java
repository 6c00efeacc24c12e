package dev.parley.client;

import org.jspecify.annotations.Nullable;

/// The server failed, or its reply does not follow Parley's protocol.
public final class BadAnswer extends RuntimeException {

  private static final long serialVersionUID = 1L;

  BadAnswer(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  BadAnswer(String message) {
    this(message, null);
  }
}
