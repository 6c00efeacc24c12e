package dev.parley.server;

import dev.parley.api.a2a.A2aSettings;
import dev.parley.server.ConfigFile.A2aSection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Reads the settings of the A2A API.
final class A2aConfigReader {

  private A2aConfigReader() {}

  static A2aSettings read(@Nullable A2aSection section, ConfigProblems problems) {
    if (section == null) {
      return A2aSettings.DEFAULTS;
    }
    return new A2aSettings(
        problems.collectOr(false, () -> oneOf("a2a.version", section.version(), "1.0.1", "1.0.0")),
        problems.collectOr(false, () -> oneOf("a2a.card", section.card(), "hybrid", "pure")),
        ConfigReader.or(section.idempotent(), true),
        ConfigReader.or(section.kagentMetadata(), true),
        ConfigReader.or(section.requiredExtensions(), List.of()),
        ConfigReader.or(section.inputModes(), List.of()),
        Boolean.TRUE.equals(section.privateWebhooks()));
  }

  /// Returns true if the value is `other`, and false if it is `usual` or missing.
  private static boolean oneOf(String name, @Nullable String value, String usual, String other) {
    if (value == null || value.equals(usual)) {
      return false;
    }
    if (value.equals(other)) {
      return true;
    }
    throw ConfigProblem.notOneOf(name, value, List.of(usual, other));
  }
}
