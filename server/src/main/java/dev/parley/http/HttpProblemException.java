package dev.parley.http;

import java.io.Serial;

/// Thrown for a problem of HTTP itself (a media type, a method), which is not a `Rejection`.
final class HttpProblemException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  private final transient Reply.Rejected reply;

  HttpProblemException(Problem problem) {
    this(new Reply.Rejected(problem));
  }

  HttpProblemException(Reply.Rejected reply) {
    super(reply.problem().detail(), null, false, false);
    this.reply = reply;
  }

  Reply.Rejected reply() {
    return reply;
  }
}
