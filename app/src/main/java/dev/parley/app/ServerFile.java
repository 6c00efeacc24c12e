package dev.parley.app;

import dev.parley.log.OwnerOnlyFiles;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.tool.process.ManagedProcesses.FolderKey;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// `server.json` in the data folder: the address of the server that uses this folder, for the other
/// commands.
///
/// @param folder identifies the data folder, so that a copy of it does not lead to the server of
///     the original
/// @param config the configuration file; empty if there is none, null if an older version wrote
///     this
/// @param workingDirectory the folder in which the server was started; null if an older version
///     wrote this
/// @param certificate the file with the server's certificate; null without TLS
record ServerFile(
    String url,
    long pid,
    Instant startedAt,
    @Nullable FolderKey folder,
    @Nullable String config,
    @Nullable String workingDirectory,
    @Nullable String certificate) {

  private static final String NAME = "server.json";

  /// Clocks and boot times are not exact to the second.
  private static final long START_SLACK_SECONDS = 5;

  /// Writes the file. `config` is the server's configuration file, or null if it has none.
  static void write(Path data, URI url, @Nullable Path config, Instant now) throws IOException {
    write(data, url, config, null, now);
  }

  /// Does the same for a server with this certificate, or with none if it is null.
  static void write(
      Path data, URI url, @Nullable Path config, @Nullable Path certificate, Instant now)
      throws IOException {
    Files.createDirectories(data);
    var pid = ProcessHandle.current().pid();
    var file =
        new ServerFile(
            url.toString(),
            pid,
            now,
            FolderKey.of(data),
            config == null ? "" : config.toAbsolutePath().normalize().toString(),
            Path.of("").toAbsolutePath().toString(),
            certificate == null ? null : certificate.toAbsolutePath().normalize().toString());
    var next = data.resolve(NAME + ".next");
    OwnerOnlyFiles.createFile(next);
    Files.write(next, Json.bytes(file));
    Files.move(next, data.resolve(NAME), StandardCopyOption.REPLACE_EXISTING);
  }

  /// The file, if it was written for this folder and its process is alive.
  static Optional<ServerFile> read(Path data) {
    try {
      var file = Json.read(Files.readAllBytes(data.resolve(NAME)), ServerFile.class);
      return file.isOf(data) && file.alive() ? Optional.of(file) : Optional.empty();
    } catch (IOException | Rejection.Invalid unreadable) {
      return Optional.empty();
    }
  }

  /// Removes the file, if this process wrote it.
  static void remove(Path data) throws IOException {
    var file = read(data);
    if (file.isPresent() && file.get().pid == ProcessHandle.current().pid()) {
      Files.deleteIfExists(data.resolve(NAME));
    }
  }

  private boolean isOf(Path data) throws IOException {
    return folder != null && folder.matches(FolderKey.of(data));
  }

  private boolean alive() {
    var process = ProcessHandle.of(pid);
    // The system reuses process ids; a process that started after the file was written is another
    // one.
    return process.isPresent()
        && process
            .get()
            .info()
            .startInstant()
            .map(start -> !start.isAfter(startedAt.plusSeconds(START_SLACK_SECONDS)))
            .orElse(true);
  }
}
