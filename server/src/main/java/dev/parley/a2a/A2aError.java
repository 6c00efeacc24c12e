package dev.parley.a2a;

import java.util.Locale;
import java.util.Optional;

/// The errors of A2A, with their codes in each binding.
public enum A2aError {
  PARSE(-32700, 400, 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"),
  INVALID_REQUEST(-32600, 400, 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"),
  METHOD_NOT_FOUND(-32601, 404, 404, "NOT_FOUND", "NOT_FOUND"),
  INVALID_PARAMS(-32602, 400, 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"),
  INTERNAL(-32603, 500, 500, "INTERNAL", "INTERNAL"),
  TASK_NOT_FOUND(-32001, 404, 404, "NOT_FOUND", "NOT_FOUND"),
  TASK_NOT_CANCELABLE(-32002, 409, 400, "FAILED_PRECONDITION", "FAILED_PRECONDITION"),
  PUSH_NOTIFICATION_NOT_SUPPORTED(-32003, 400, 400, "UNIMPLEMENTED", "FAILED_PRECONDITION"),
  UNSUPPORTED_OPERATION(-32004, 400, 400, "UNIMPLEMENTED", "FAILED_PRECONDITION"),
  CONTENT_TYPE_NOT_SUPPORTED(-32005, 415, 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"),
  INVALID_AGENT_RESPONSE(-32006, 502, 500, "INTERNAL", "INTERNAL"),
  EXTENDED_AGENT_CARD_NOT_CONFIGURED(
      -32007, 400, 400, "FAILED_PRECONDITION", "FAILED_PRECONDITION"),
  EXTENSION_SUPPORT_REQUIRED(-32008, 400, 400, "FAILED_PRECONDITION", "FAILED_PRECONDITION"),
  VERSION_NOT_SUPPORTED(-32009, 400, 400, "UNIMPLEMENTED", "FAILED_PRECONDITION");

  private final int code;
  private final int firstStatus;
  private final int status;
  private final String firstName;
  private final String name;

  A2aError(int code, int firstStatus, int status, String firstName, String name) {
    this.code = code;
    this.firstStatus = firstStatus;
    this.status = status;
    this.firstName = firstName;
    this.name = name;
  }

  /// The JSON-RPC error code.
  public int code() {
    return code;
  }

  /// The HTTP status in 1.0.1, or in 1.0.0.
  public int status(boolean asIn100) {
    return asIn100 ? firstStatus : status;
  }

  /// The name of the status in 1.0.1, or in 1.0.0.
  public String statusName(boolean asIn100) {
    return asIn100 ? firstName : name;
  }

  /// The reason in `ErrorInfo`.
  public String reason() {
    return name().toUpperCase(Locale.ROOT);
  }

  /// True for errors that A2A defines, beyond those of JSON-RPC.
  public boolean definedByA2a() {
    return code > -32100;
  }

  /// The error with this JSON-RPC code.
  public static Optional<A2aError> of(int code) {
    for (var error : values()) {
      if (error.code == code) {
        return Optional.of(error);
      }
    }
    return Optional.empty();
  }
}
