package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.ParleyClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Only its owner can read the data folder.
@Timeout(180)
class PermissionsIT {

  private static final String ALL = "rwxrwxrwx";

  @TempDir Path folder;

  @Test
  void whatever_the_umask_a_folder_that_others_could_read_is_tightened() throws Exception {
    var data = Files.createDirectory(folder.resolve("data"));
    permit(data, "rwxr-xr-x");
    try (var server = RealProcess.serveWithoutUmask(data)) {
      use(server);

      assertThat(openToOthers(data)).isEmpty();
      assertThat(server.err())
          .anyMatch(line -> line.contains("WARNING") && line.contains("the data folder " + data));
    }
  }

  @Test
  void files_that_others_could_read_are_tightened_at_the_next_start() throws Exception {
    var data = folder.resolve("data");
    try (var server = RealProcess.serveWithoutUmask(data)) {
      use(server);
      assertThat(openToOthers(data)).isEmpty();
      assertThat(server.err()).noneMatch(line -> line.contains("data folder"));
      server.kill();
    }
    for (var file : all(data)) {
      // A key file that other users can read is rejected.
      if (!file.endsWith("vault.key")) {
        permit(file, ALL);
      }
    }
    try (var server = RealProcess.serveWithoutUmask(data)) {
      use(server);

      assertThat(openToOthers(data)).isEmpty();
    }
  }

  @Test
  void a_folder_with_other_things_in_it_keeps_its_permissions() throws Exception {
    var data = Files.createDirectory(folder.resolve("data"));
    var other = Files.writeString(data.resolve("notes.txt"), "for all to read");
    permit(data, ALL);
    permit(other, ALL);
    try (var server = RealProcess.serveWithoutUmask(data)) {
      use(server);

      assertThat(openToOthers(data)).containsOnlyKeys(data, other);
      assertThat(server.err()).anyMatch(line -> line.contains("files that are not Parley's"));
    }
  }

  /// Makes the server write its files.
  private static void use(RealProcess server) throws InterruptedException {
    try (var client = new ParleyClient(server.url());
        var answer = client.ask("count to 3")) {
      assertThat(answer.text()).contains("3");
    }
  }

  private static Map<Path, String> openToOthers(Path data) throws IOException {
    var open = new TreeMap<Path, String>();
    for (var file : all(data)) {
      var permissions = PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
      if (!permissions.endsWith("------")) {
        open.put(file, permissions);
      }
    }
    return open;
  }

  private static List<Path> all(Path data) throws IOException {
    try (var files = Files.walk(data)) {
      return files.toList();
    }
  }

  private static void permit(Path file, String permissions) throws IOException {
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
  }
}
