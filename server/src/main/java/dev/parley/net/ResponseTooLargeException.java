package dev.parley.net;

import java.io.IOException;

/// A response, or an event of a stream, has more bytes than the limit.
public final class ResponseTooLargeException extends IOException {

  private static final long serialVersionUID = 1L;

  private final String subject;
  private final long bytesMax;

  ResponseTooLargeException(String subject, long bytesMax) {
    super(subject + " has more than " + bytesMax + " bytes");
    this.subject = subject;
    this.bytesMax = bytesMax;
  }

  /// What is too large: `a response` or `an event`.
  public String subject() {
    return subject;
  }

  public long bytesMax() {
    return bytesMax;
  }
}
