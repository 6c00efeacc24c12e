package dev.parley.server;

import dev.parley.log.PostgresAddress;
import dev.parley.log.PostgresDatabase;
import dev.parley.protocol.Rejection;
import dev.parley.server.Diagnosis.DiagnosisFinding;
import dev.parley.server.Diagnosis.DiagnosisGrade;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Optional;

/// Checks that the master key of a configuration fits a log. It changes nothing.
public final class EncryptionDiagnosis {

  private EncryptionDiagnosis() {}

  private interface KeyCheck {
    void run() throws SQLException;
  }

  /// Checks the log of a data folder. Empty if neither the configuration nor the log says that it is
  /// encrypted.
  public static Optional<DiagnosisFinding> ofFolder(Path data, Config.EncryptionConfig config) {
    var log = data.resolve("log.db");
    return find(
        config,
        () -> {
          if (Files.exists(log)) {
            config.forLog().check(log);
          } else {
            config.forLog().check();
          }
        });
  }

  /// Checks the log in a database.
  public static Optional<DiagnosisFinding> ofDatabase(
      PostgresAddress address, Config.EncryptionConfig config) {
    return find(config, () -> config.forLog().check(new PostgresDatabase(address)));
  }

  /// Checks that this server could use the log of its cluster if it took over.
  ///
  /// @throws Rejection.Unavailable if it could not
  static void check(PostgresDatabase database, Config.EncryptionConfig config) {
    try {
      config.forLog().check(database);
    } catch (SQLException unusable) {
      throw new Rejection.Unavailable(
          "the log in " + database + " cannot be opened: " + unusable.getMessage());
    }
  }

  private static Optional<DiagnosisFinding> find(Config.EncryptionConfig config, KeyCheck check) {
    try {
      check.run();
      return config.isOn()
          ? Optional.of(new DiagnosisFinding(DiagnosisGrade.OK, "the master key can be used"))
          : Optional.empty();
    } catch (SQLException unusable) {
      if (unusable.getErrorCode() != 0 || unusable.getSQLState() != null) {
        // The log itself cannot be read, which other checks report.
        return Optional.empty();
      }
      return Optional.of(
          new DiagnosisFinding(DiagnosisGrade.FAILURE, String.valueOf(unusable.getMessage())));
    }
  }
}
