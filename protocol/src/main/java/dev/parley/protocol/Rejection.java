package dev.parley.protocol;

/// A request was rejected.
///
/// The message is for the caller, the code for programs. A rejected request changes nothing.
@SuppressWarnings("serial") // Never serialized.
public abstract sealed class Rejection extends RuntimeException {

  private final String code;

  private Rejection(String code, String message) {
    // No stack trace: a rejection is a normal reply, and there may be thousands of them.
    super(message, null, false, false);
    this.code = code;
  }

  /// A short, stable name of the reason, in kebab-case.
  public final String code() {
    return code;
  }

  /// The request is invalid.
  public static final class Invalid extends Rejection {
    public Invalid(String code, String message) {
      super(code, message);
    }

    public Invalid(String message) {
      this("invalid", message);
    }
  }

  /// The caller is not authenticated.
  public static final class Unauthorized extends Rejection {
    public Unauthorized(String message) {
      super("unauthorized", message);
    }
  }

  /// The caller is not allowed to do this.
  public static final class Forbidden extends Rejection {
    public Forbidden(String code, String message) {
      super(code, message);
    }
  }

  /// The resource does not exist, or the caller may not see it.
  public static final class NotFound extends Rejection {
    public NotFound(String message) {
      super("not-found", message);
    }
  }

  /// The state of the context does not allow this now.
  public static final class Conflict extends Rejection {
    public Conflict(String code, String message) {
      super(code, message);
    }
  }

  /// A guard does not hold, because another append came first.
  public static final class Stale extends Rejection {
    public Stale(String message) {
      super("stale", message);
    }
  }

  /// The context was deleted; its id is never used again.
  public static final class Gone extends Rejection {
    public Gone(String message) {
      super("gone", message);
    }
  }

  /// The stored data of the context cannot be read. Other contexts are not affected. Retrying does
  /// not help.
  public static final class Damaged extends Rejection {
    public Damaged(String message) {
      super("context-damaged", message);
    }
  }

  /// The request is larger than a limit allows.
  public static final class TooLarge extends Rejection {
    public TooLarge(String code, String message) {
      super(code, message);
    }
  }

  /// A limit of concurrent work is reached. A later retry may succeed.
  public static final class Busy extends Rejection {
    public Busy(String code, String message) {
      super(code, message);
    }
  }

  /// The store cannot be written at the moment; nothing was written.
  public static final class Unavailable extends Rejection {
    public Unavailable(String message) {
      super("unavailable", message);
    }
  }
}
