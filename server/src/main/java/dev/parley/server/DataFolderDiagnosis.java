package dev.parley.server;

import dev.parley.api.a2a.push.PushNotifier;
import dev.parley.auth.Vault;
import dev.parley.log.DataFolderPermissions;
import dev.parley.log.DatabaseCheck;
import dev.parley.projection.Views;
import dev.parley.protocol.Rejection;
import dev.parley.server.Diagnosis.DiagnosisCheck;
import dev.parley.server.Diagnosis.DiagnosisFinding;
import dev.parley.server.Diagnosis.DiagnosisGrade;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/// Checks that a server can open the files of a data folder. It changes nothing, and a server may
/// use the folder meanwhile.
public final class DataFolderDiagnosis {

  /// How long one database is read. It is shorter than the time limit of a check.
  private static final Duration READING = Duration.ofSeconds(15);

  private final Path data;
  private final Config.@Nullable VaultConfig vault;
  private final Duration reading;

  /// `vault` is null if it is not known; the vault is then not checked.
  public DataFolderDiagnosis(Path data, Config.@Nullable VaultConfig vault) {
    this(data, vault, READING);
  }

  DataFolderDiagnosis(Path data, Config.@Nullable VaultConfig vault, Duration reading) {
    this.data = data;
    this.vault = vault;
    this.reading = reading;
  }

  /// Returns the checks of all files that exist.
  public List<DiagnosisCheck> checks() {
    var checks = new ArrayList<DiagnosisCheck>();
    if (!Files.isDirectory(data)) {
      return checks;
    }
    checks.add(new DiagnosisCheck("permissions", data.toString(), this::permissions));
    add(checks, "log.db", this::log);
    add(checks, "views.db", this::views);
    add(checks, "push.db", this::push);
    if (vault != null && !vault.inMemory() && hasVault()) {
      checks.add(new DiagnosisCheck("vault", data.toString(), () -> vault(vault.key())));
    }
    return checks;
  }

  private boolean hasVault() {
    return Files.exists(data.resolve("vault.bin")) || Files.exists(data.resolve("vault.key"));
  }

  private void add(List<DiagnosisCheck> checks, String name, Callable<DiagnosisFinding> run) {
    if (Files.exists(data.resolve(name))) {
      checks.add(new DiagnosisCheck(name, data.resolve(name).toString(), run));
    }
  }

  private DiagnosisFinding permissions() {
    try {
      var permissions = DataFolderPermissions.read(data, System.getProperty("user.name", ""));
      if (!permissions.foreign().isEmpty()) {
        return failure(
            "other users can access "
                + permissions.foreign().getFirst()
                + ", which belongs to another user: change its owner or its mode");
      }
      if (!permissions.restricted().isEmpty()) {
        return warning(
            "other users can access "
                + permissions.restricted().getFirst()
                + "; the next start changes its mode");
      }
      return permissions.shared()
          ? warning(
              "other users can read the folder, which also contains files that are not Parley's;"
                  + " a separate folder would be safer")
          : ok("only the owner can read Parley's files");
    } catch (IOException unreadable) {
      return failure("cannot read " + data + ": " + unreadable.getMessage());
    }
  }

  private DiagnosisFinding log() {
    return database(
        "log.db",
        DatabaseCheck::checkLog,
        "restore a backup with parley restore, or choose another folder with --data");
  }

  private DiagnosisFinding push() {
    return database(
        "push.db",
        PushNotifier::check,
        "restore it from a backup, or remove it: clients must then register their webhooks again");
  }

  private DiagnosisFinding views() {
    var file = data.resolve("views.db");
    try {
      return Views.whyRebuilt(file, reading)
          .map(reason -> warning("the next start rebuilds the views: " + reason))
          .orElse(ok("no damage found"));
    } catch (SQLException unusable) {
      return failure(file + " cannot be opened: " + unusable.getMessage());
    }
  }

  private interface DatabaseOpener {
    boolean check(Path file, Duration patience) throws SQLException;
  }

  private DiagnosisFinding database(String name, DatabaseOpener opener, String remedy) {
    var file = data.resolve(name);
    try {
      return opener.check(file, reading)
          ? ok("no damage found")
          : ok("no damage found in the part that was read within " + reading.toSeconds() + " s");
    } catch (SQLException unusable) {
      return failure(file + " cannot be opened: " + unusable.getMessage() + ": " + remedy);
    }
  }

  private DiagnosisFinding vault(@Nullable String key) {
    try {
      Vault.check(data, key, Server.ServerSources.real().vault());
      return ok("it can be opened");
    } catch (Rejection unusable) {
      return failure(String.valueOf(unusable.getMessage()));
    }
  }

  private static DiagnosisFinding ok(String text) {
    return new DiagnosisFinding(DiagnosisGrade.OK, text);
  }

  private static DiagnosisFinding warning(String text) {
    return new DiagnosisFinding(DiagnosisGrade.WARNING, text);
  }

  private static DiagnosisFinding failure(String text) {
    return new DiagnosisFinding(DiagnosisGrade.FAILURE, text);
  }
}
