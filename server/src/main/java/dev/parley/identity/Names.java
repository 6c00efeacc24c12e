package dev.parley.identity;

import dev.parley.protocol.Rejection;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Checks the names of people, keys, groups and tenants, and of scopes and roles.
final class Names {

  // No dot: the id of a context may begin with a name and a dot.
  private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9_@-]{0,62}");

  private Names() {}

  /// Returns a valid name.
  ///
  /// @throws Rejection.Invalid if it is not valid
  static String check(String field, String name) {
    if (!NAME.matcher(name).matches()) {
      throw new Rejection.Invalid(
          field + " must be 1 to 63 characters of a-z 0-9 _ @ - and begin with a letter or digit");
    }
    return name;
  }

  /// The scopes with these names.
  static Set<Scope> scopes(Collection<String> names) {
    return parse("scopes", names, Scope.class, Scope::wire);
  }

  /// The roles with these names.
  static Set<Role> roles(Collection<String> names) {
    return parse("roles", names, Role.class, Role::wire);
  }

  private static <E extends Enum<E>> Set<E> parse(
      String field, Collection<String> names, Class<E> type, Function<E, String> wire) {
    var found = EnumSet.noneOf(type);
    for (var name : names) {
      found.add(
          Arrays.stream(type.getEnumConstants())
              .filter(one -> wire.apply(one).equals(name.toLowerCase(Locale.ROOT)))
              .findFirst()
              .orElseThrow(
                  () ->
                      new Rejection.Invalid(
                          "%s: there is no %s; choose from %s"
                              .formatted(
                                  field,
                                  name,
                                  Arrays.stream(type.getEnumConstants())
                                      .map(wire)
                                      .collect(Collectors.joining(", "))))));
    }
    if (found.isEmpty()) {
      throw new Rejection.Invalid(field + " must have at least one item");
    }
    return Set.copyOf(found);
  }
}
