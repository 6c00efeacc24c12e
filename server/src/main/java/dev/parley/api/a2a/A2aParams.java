package dev.parley.api.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// The parameters of a request.
record A2aParams(ObjectNode json) {

  /// A non-empty string, or null.
  @Nullable String text(String name) {
    var value = json.path(name);
    if (value.isMissingNode() || value.isNull()) {
      return null;
    }
    if (!value.isString()) {
      throw invalid(name + ": a string is needed");
    }
    return value.stringValue().isEmpty() ? null : value.stringValue();
  }

  String required(String name) {
    var text = text(name);
    if (text == null) {
      throw invalid(name + ": is needed");
    }
    return text;
  }

  /// A non-negative integer, or null.
  @Nullable Integer integer(String name) {
    var value = json.path(name);
    if (value.isMissingNode() || value.isNull()) {
      return null;
    }
    if (!value.isIntegralNumber() || !value.canConvertToInt() || value.intValue() < 0) {
      throw invalid(name + ": a whole number that is not negative is needed");
    }
    return value.intValue();
  }

  boolean flag(String name) {
    var value = json.path(name);
    if (value.isMissingNode() || value.isNull()) {
      return false;
    }
    if (!value.isBoolean()) {
      throw invalid(name + ": true or false is needed");
    }
    return value.booleanValue();
  }

  static A2aException invalid(String message) {
    return new A2aException(A2aError.INVALID_PARAMS, message);
  }
}
