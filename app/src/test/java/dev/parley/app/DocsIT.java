package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.json.JsonMapper;

/// Runs the examples of the guides with the real program, `curl` and a shell, and compares the
/// output.
class DocsIT {

  private static final Pattern ASSIGNMENT = Pattern.compile("([A-Z]+)=\\$\\(.*\\)");
  private static final long PATIENCE_SECONDS = 60;

  @TempDir Path data;
  @TempDir Path folder;

  static Stream<Guide> guides() {
    return Guide.all().stream().filter(guide -> !GuideExample.in(guide).isEmpty());
  }

  @ParameterizedTest
  @MethodSource("guides")
  void what_a_guide_shows_works(Guide guide) throws IOException, InterruptedException {
    Files.writeString(folder.resolve("stock.csv"), "fruit,count\napples,3\npears,5\n");
    Files.writeString(folder.resolve(".curlrc"), "fail-with-body\nnoproxy = \"*\"\n");
    writeProgram();
    var config = Files.writeString(folder.resolve("parley.yaml"), "workspaces: [" + folder + "]\n");
    try (var server = RealProcess.serve(data, "--config", config.toString())) {
      var variables = new HashMap<>(variables(server.url()));
      for (var guideExample : GuideExample.in(guide)) {
        run(guideExample, server.url(), variables);
      }
    }
  }

  @Test
  void every_route_is_in_a_guide() throws IOException, InterruptedException {
    var guide = Guide.all().stream().map(Guide::text).collect(Collectors.joining("\n"));
    try (var server = RealProcess.serve(data);
        var http = HttpClient.newHttpClient()) {
      var request = HttpRequest.newBuilder(server.url().resolve("/openapi.json")).build();
      var description = http.send(request, BodyHandlers.ofString()).body();

      for (var path : new JsonMapper().readTree(description).get("paths").properties()) {
        for (var method : path.getValue().propertyNames()) {
          assertThat(guide).contains("`" + method.toUpperCase(Locale.ROOT) + " " + path.getKey());
        }
      }
    }
  }

  /// Writes the script `./parley` of the guides, without the build.
  private void writeProgram() throws IOException {
    var command =
        RealProcess.java(List.of()).stream()
            .map(word -> "'" + word + "'")
            .collect(Collectors.joining(" "));
    var program = folder.resolve("parley");
    Files.writeString(program, "#!/bin/sh\nexec " + command + " \"$@\"\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
  }

  private Map<String, String> variables(URI url) {
    return Map.of(
        "PARLEY_URL",
        url.toString(),
        "PARLEY_DATA",
        data.toString(),
        ParentProcessMonitor.VARIABLE,
        Long.toString(ProcessHandle.current().pid()),
        "CURL_HOME",
        folder.toString());
  }

  private void run(GuideExample guideExample, URI url, Map<String, String> variables)
      throws IOException, InterruptedException {
    var command = guideExample.command().replace("localhost:7070", url.getAuthority());
    var assigned = ASSIGNMENT.matcher(command);
    if (assigned.matches()) {
      command += " && printf %s \"$" + assigned.group(1) + "\"";
    }
    var shell = new ProcessBuilder("bash", "-o", "pipefail", "-c", command);
    shell.environment().keySet().removeIf(name -> name.matches("(?:ANTHROPIC|OPENAI)_.*"));
    shell.environment().putAll(variables);
    var errors = folder.resolve("errors.txt");
    var process = shell.directory(folder.toFile()).redirectError(errors.toFile()).start();
    process.getOutputStream().close();
    var watchdog = Thread.ofPlatform().daemon().start(() -> stopLate(process));

    var printed = read(process, guideExample);
    var cut = process.isAlive() && guideExample.endless() && guideExample.fulfilledBy(printed);
    if (cut) {
      stop(process);
    }
    watchdog.join();

    assertThat(guideExample.fulfilledBy(printed))
        .as("%s%nprinted:%n%s%s", guideExample, printed, Files.readString(errors))
        .isTrue();
    if (!cut) {
      // curl exits with 22 if the server rejects the request.
      assertThat(process.exitValue())
          .as("%s%nprinted:%n%s%s", guideExample, printed, Files.readString(errors))
          .isEqualTo(guideExample.refused() ? 22 : 0);
    }
    if (assigned.matches()) {
      variables.put(assigned.group(1), printed.strip());
    }
  }

  /// The output of the process until it ends or, for an endless one, until it has printed what is
  /// expected.
  private static String read(Process process, GuideExample guideExample) throws IOException {
    var printed = new StringBuilder();
    var reader = process.inputReader();
    for (var line = reader.readLine(); line != null; line = reader.readLine()) {
      printed.append(line).append('\n');
      if (guideExample.endless() && guideExample.fulfilledBy(printed.toString())) {
        break;
      }
    }
    return printed.toString();
  }

  private static void stopLate(Process process) {
    try {
      if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        stop(process);
      }
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
    }
  }

  private static void stop(Process process) {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }
}
