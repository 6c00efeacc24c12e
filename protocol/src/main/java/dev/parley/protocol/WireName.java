package dev.parley.protocol;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/// An enum constant with a name on the wire, in kebab-case unless the enum overrides it.
public interface WireName {

  /// The constant's name in Java.
  String name();

  /// The constant's name on the wire.
  default String wire() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /// The constant of `type` with this wire name, if there is one.
  static <E extends Enum<E> & WireName> Optional<E> find(Class<E> type, String wire) {
    return Arrays.stream(type.getEnumConstants()).filter(e -> e.wire().equals(wire)).findFirst();
  }

  /// The constant of `type` with this wire name.
  ///
  /// @throws Rejection.Invalid if there is none; the message lists the valid names
  static <E extends Enum<E> & WireName> E parse(Class<E> type, String field, String wire) {
    return find(type, wire)
        .orElseThrow(() -> new Rejection.Invalid(field + " must be one of " + names(type)));
  }

  private static <E extends Enum<E> & WireName> String names(Class<E> type) {
    return Arrays.stream(type.getEnumConstants())
        .map(WireName::wire)
        .collect(Collectors.joining(", "));
  }
}
