package dev.parley.door;

import java.io.Serial;

/// Thrown for a problem of HTTP itself (a media type, a method), which is not a `Rejection`.
final class Refusal extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  private final transient Reply.Refused reply;

  Refusal(Problem problem) {
    this(new Reply.Refused(problem));
  }

  Refusal(Reply.Refused reply) {
    super(reply.problem().detail(), null, false, false);
    this.reply = reply;
  }

  Reply.Refused reply() {
    return reply;
  }
}
