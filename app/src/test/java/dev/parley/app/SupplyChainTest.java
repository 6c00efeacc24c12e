package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.Sha256;
import dev.parley.protocol.Json;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// A library that is not the one that was reviewed is found.
@Timeout(120)
class SupplyChainTest {

  private static final Path LINT = SourceFile.root().resolve("lint");

  @TempDir Path home;

  private static JsonNode artifacts() throws IOException {
    return Json.mapper()
        .readTree(Files.readString(LINT.resolve("maven-artifacts.json")))
        .path("artifacts");
  }

  private record Result(int exit, String output) {}

  /// Runs the check for a person whose home folder, and so whose Maven repository, is empty.
  private Result check(Path script) throws IOException, InterruptedException {
    var output = home.resolve("output.txt");
    var builder = new ProcessBuilder("node", script.toString(), "check");
    builder.environment().put("HOME", home.toString());
    var process = builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    return new Result(process.exitValue(), Files.readString(output));
  }

  @Test
  void a_library_with_other_bytes_is_rejected() throws Exception {
    var path = artifacts().get(0).path("path").asString();
    var forged = home.resolve(".m2/repository").resolve(path);
    Files.createDirectories(forged.getParent());
    Files.writeString(forged, "forged");

    var result = check(LINT.resolve("dependencies.mjs"));

    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.output()).contains(path + " is not the file of lint/maven-artifacts.json");
  }

  @Test
  void a_licence_that_is_not_on_the_list_is_rejected() throws Exception {
    var copy = copyOfLists();
    var list = copy.resolve("lint/maven-artifacts.json");
    assertThat(check(copy.resolve("lint/dependencies.mjs")).output()).startsWith("Compared ");
    var text = Files.readString(list);
    Files.writeString(
        list, text.replaceFirst("\"licence\":\"[^\"]+\"", "\"licence\":\"SSPL-1.0\""));

    var result = check(copy.resolve("lint/dependencies.mjs"));

    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.output()).contains("its licence is not on the list: SSPL-1.0");
  }

  @Test
  void a_pom_that_names_other_libraries_is_rejected() throws Exception {
    var copy = copyOfLists();
    var pom = copy.resolve("pom.xml");
    Files.writeString(
        pom, Files.readString(pom).replaceFirst("jetty.version>12", "jetty.version>11"));

    assertThat(check(copy.resolve("lint/dependencies.mjs")).output())
        .contains("a pom.xml names other libraries: run bin/dependencies update");
  }

  @Test
  void a_package_of_npm_without_a_checksum_is_rejected() throws Exception {
    var copy = copyOfLists();
    var lock = copy.resolve("ui/page/package-lock.json");
    Files.writeString(
        lock, Files.readString(lock).replaceFirst("\"integrity\": \"sha512-", "\"x\": \""));

    assertThat(check(copy.resolve("lint/dependencies.mjs")).output())
        .contains("ui/page/package-lock.json has no strong checksum for ");
  }

  /// The files that the check reads, in a folder where a test may change them.
  private Path copyOfLists() throws IOException {
    var root = SourceFile.root();
    var copy = home.resolve("copy");
    try (var files = Files.find(root, 4, (path, _) -> isList(root.relativize(path).toString()))) {
      for (var file : files.toList()) {
        copy(file, copy.resolve(root.relativize(file)));
      }
    }
    try (var files = Files.walk(root.resolve("ui/page/src"))) {
      for (var file : files.filter(Files::isRegularFile).toList()) {
        copy(file, copy.resolve(root.relativize(file)));
      }
    }
    Files.createSymbolicLink(copy.resolve("lint/node_modules"), LINT.resolve("node_modules"));
    return copy;
  }

  private static boolean isList(String path) {
    return path.matches("(?:[a-z]+/){0,2}pom\\.xml|(?:lint|(?:ui|peers)/[^/]+)/package-lock\\.json")
        || path.matches("docs/licences\\.md|lint/(?:dependencies\\.mjs|maven-artifacts\\.json)");
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.createDirectories(to.getParent());
    Files.copy(from, to);
  }

  @Test
  void all_libraries_that_tests_run_with_are_on_the_list() throws IOException {
    var hashes =
        artifacts()
            .valueStream()
            .map(artifact -> artifact.path("sha256").asString())
            .collect(Collectors.toSet());

    assertThat(libraries()).isNotEmpty();
    for (var library : libraries()) {
      assertThat(hashes)
          .as("%s: run bin/dependencies update", library)
          .contains(HexFormat.of().formatHex(Sha256.of(Files.readAllBytes(library))));
    }
  }

  /// The jars of other projects on the class path.
  private static List<Path> libraries() {
    var classPath =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    return Stream.of(classPath.split(File.pathSeparator))
        .filter(entry -> entry.endsWith(".jar"))
        .map(Path::of)
        .filter(path -> !path.getFileName().toString().startsWith("parley-"))
        .toList();
  }

  @Test
  void every_delivered_library_has_a_checksum_and_a_licence() throws IOException {
    var shipped =
        artifacts().valueStream().filter(artifact -> artifact.path("shipped").asBoolean()).toList();

    assertThat(shipped)
        .hasSizeGreaterThan(20)
        .allSatisfy(
            artifact -> {
              assertThat(artifact.path("sha256").asString()).matches("[0-9a-f]{64}");
              assertThat(artifact.path("licence").asString()).isNotEqualTo("unknown");
            });
  }
}
