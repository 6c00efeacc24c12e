package dev.parley.protocol;

/// Says that the caller asked for something that cannot be had, and why.
///
/// The message is for the caller; the code is for programs. A rejection changes nothing.
public abstract sealed class Rejection extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final String code;

  private Rejection(String code, String message) {
    // No stack trace: a rejection is an answer, and answers may come by the thousand.
    super(message, null, false, false);
    this.code = code;
  }

  /// A short, stable name of the reason, in kebab-case.
  public final String code() {
    return code;
  }

  /// The request does not make sense.
  public static final class Invalid extends Rejection {
    private static final long serialVersionUID = 1L;

    public Invalid(String code, String message) {
      super(code, message);
    }

    public Invalid(String message) {
      this("invalid", message);
    }
  }

  /// Who is calling is not known.
  public static final class Unauthorized extends Rejection {
    private static final long serialVersionUID = 1L;

    public Unauthorized(String message) {
      super("unauthorized", message);
    }
  }

  /// Who is calling may not do this.
  public static final class Forbidden extends Rejection {
    private static final long serialVersionUID = 1L;

    public Forbidden(String code, String message) {
      super(code, message);
    }
  }

  /// There is no such thing, or the caller may not know of it.
  public static final class NotFound extends Rejection {
    private static final long serialVersionUID = 1L;

    public NotFound(String message) {
      super("not-found", message);
    }
  }

  /// The state of the context does not allow this now.
  public static final class Conflict extends Rejection {
    private static final long serialVersionUID = 1L;

    public Conflict(String code, String message) {
      super(code, message);
    }
  }

  /// A guard no longer holds: somebody else wrote first.
  public static final class Stale extends Rejection {
    private static final long serialVersionUID = 1L;

    public Stale(String message) {
      super("stale", message);
    }
  }

  /// The context was deleted; its id is never used again.
  public static final class Gone extends Rejection {
    private static final long serialVersionUID = 1L;

    public Gone(String message) {
      super("gone", message);
    }
  }

  /// What is stored of the context cannot be used. Other contexts are not affected; trying again does not help.
  public static final class Damaged extends Rejection {
    private static final long serialVersionUID = 1L;

    public Damaged(String message) {
      super("context-damaged", message);
    }
  }

  /// The request is larger than a limit allows.
  public static final class TooLarge extends Rejection {
    private static final long serialVersionUID = 1L;

    public TooLarge(String code, String message) {
      super(code, message);
    }
  }

  /// A limit on how much may go on at once is reached; later may work.
  public static final class Busy extends Rejection {
    private static final long serialVersionUID = 1L;

    public Busy(String code, String message) {
      super(code, message);
    }
  }

  /// The store cannot take writes just now; nothing was written.
  public static final class Unavailable extends Rejection {
    private static final long serialVersionUID = 1L;

    public Unavailable(String message) {
      super("unavailable", message);
    }
  }
}
