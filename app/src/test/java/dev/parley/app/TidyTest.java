package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The rules of STYLE.md that a machine can check.
class TidyTest {

  private static final String OURS = "dev.parley.";
  private static final int LINES_MAX = 600;

  /// The packages of the server, from low to high. Imports only point down.
  private static final List<Set<String>> ORDER =
      List.of(
          Set.of("runtime", "encryption"),
          Set.of("log", "net"),
          Set.of("audit", "cluster", "projection"),
          Set.of("auth", "identity", "control"),
          Set.of("task"),
          Set.of("model", "tool"),
          Set.of("mcp"),
          Set.of("agent"),
          Set.of("supervisor", "embed"),
          Set.of("a2a"),
          Set.of("external"),
          Set.of("http"),
          Set.of("stream"),
          Set.of("api"),
          Set.of("api.*"),
          Set.of("server"));

  /// The modules that the main code of a module may import from; the server has its own rule.
  private static final Map<String, Set<String>> MODULES =
      Map.of("protocol", Set.of("protocol"), "client", Set.of("client", "protocol"));

  /// The modules that extend the server. They use the server, and no other module.
  private static final Set<String> EXTENSIONS =
      Set.of(
          "offline",
          "compat/workflow",
          "compat/kagent",
          "compat/chat",
          "compat/agents",
          "compat/openai",
          "compat/mcp");

  private static final Pattern TYPE =
      Pattern.compile(
          "^\\s*(?:(?:public|protected|private|static|final|abstract|sealed|non-sealed)\\s+)*"
              + "(?:class|@?interface|record|enum)\\s+(\\w+)");
  private static final Pattern PUBLIC_TOP_LEVEL_TYPE =
      Pattern.compile("^public (?:[\\w-]+ )*(?:class|@?interface|record|enum) \\w+");
  private static final Pattern REQUIREMENT =
      Pattern.compile("\\b(?:CHAT|AGENT|SESSION|WORKFLOW|EVENT|CORE)-(?:[0-9]+|[A-Z])\\b");
  private static final Pattern VAGUE_NAME =
      Pattern.compile("(?:Manager|Helper|Utils?|Service|Impl|Base)$|^Abstract");
  private static final Pattern CATCHES_ALL =
      Pattern.compile("catch \\(.*\\b(?:Exception|Throwable) \\w+\\)");
  private static final Pattern THROWS_ALL =
      Pattern.compile("\\bthrows (?:.*[ ,])?(?:Exception|Throwable)\\b");
  private static final Pattern STATIC_TIME_OR_ID =
      Pattern.compile(
          "System\\.currentTimeMillis\\(|(?:Instant|LocalDate|LocalDateTime|"
              + "OffsetDateTime|ZonedDateTime)\\.now\\(\\)|UUID\\.randomUUID|Clock\\.system");

  /// The packages that must not know the keys of metadata. `a2a` and `external.a2a` also read the
  /// metadata of another protocol.
  private static final Set<String> FACT_READERS =
      Set.of(
          "log",
          "task",
          "projection",
          "stream",
          "http",
          "tool",
          "agent",
          "supervisor",
          "embed",
          "external",
          "api");

  /// Files that read the metadata of A2A messages and artifacts, which belong to A2A.
  private static final Set<String> OTHER_METADATA =
      Set.of(
          "A2aRewind.java",
          "ArtifactFold.java",
          "ExternalTaskStore.java",
          "QuestionAnswers.java",
          "RewindTargets.java");

  private static final Pattern METADATA_READ =
      Pattern.compile(
          "\\b\\w*[mM]etadata(?:\\(\\))?\\s*\\.(?:path|get|has|at|required|optional)\\(\\s*(?:\"|[A-Z])");

  /// Keys that mean nothing but a fact.
  private static final Pattern FACT_KEY =
      Pattern.compile(
          "\"(?:heardBy|hosted|blockedBy|inputIds|authIds|subtaskIds|recovered|handedBack"
              + "|argumentsSchema|whenLapsed|clientTools|previousResults)\"");

  private static final int CYCLE_MAX = 4;

  /// Code that uses the time or the threads of the machine.
  private static final Pattern MACHINE_TIME_OR_THREADS =
      Pattern.compile(
          "System\\.nanoTime|Thread\\.sleep|LockSupport\\.parkNanos|Thread\\.of(?:Virtual|Platform)"
              + "|startVirtualThread|ScheduledExecutor|ScheduledThreadPoolExecutor"
              + "|newVirtualThreadPerTaskExecutor");

  /// Files that still use them. Take a file out when it uses `Time` and `Threads`; add none.
  private static final Set<String> USES_MACHINE =
      Set.of("DatabaseCheck.java", "HttpListener.java", "OrphanReaper.java", "ProcessTree.java");

  private final List<SourceFile> files = SourceFile.all();

  @Test
  void the_sources_are_found() {
    assertThat(files).extracting(SourceFile::fileName).contains("TidyTest.java");
  }

  @Test
  void imports_between_modules_only_point_down() {
    assertThat(wrongImports(file -> MODULES.containsKey(file.module()), TidyTest::isForModule))
        .isEmpty();
    assertThat(
            wrongImports(
                file -> !file.module().equals("benchmarks"),
                (_, imported) -> !imported.equals("bench")))
        .isEmpty();
  }

  @Test
  void imports_inside_the_server_only_point_down() {
    assertThat(wrongImports(file -> file.module().equals("server"), TidyTest::pointsDown))
        .isEmpty();
  }

  @Test
  void extensions_use_the_server_and_no_other_module() {
    assertThat(
            wrongImports(
                file -> EXTENSIONS.contains(file.module()),
                (file, imported) ->
                    mainFiles()
                        .filter(other -> other.packageName().equals(OURS + imported))
                        .map(SourceFile::module)
                        .allMatch(
                            module ->
                                Set.of("protocol", "server", file.module()).contains(module))))
        .isEmpty();
  }

  @Test
  void every_package_of_the_server_has_its_place() {
    assertThat(mainFiles().filter(file -> file.module().equals("server")))
        .filteredOn(file -> height(feature(file.packageName())) < 0)
        .extracting(SourceFile::path)
        .isEmpty();
  }

  @Test
  void at_most_four_classes_of_a_package_form_a_cycle() {
    var shipped = mainFiles().filter(file -> !file.module().equals("benchmarks")).toList();

    assertThat(ClassCycles.largest(shipped))
        .allSatisfy(
            (name, cycle) -> assertThat(cycle).as(name).hasSizeLessThanOrEqualTo(CYCLE_MAX));
  }

  @Test
  void no_file_is_too_long() {
    assertThat(files)
        .filteredOn(file -> file.lines().size() > LINES_MAX)
        .extracting(SourceFile::path)
        .isEmpty();
  }

  @Test
  void every_package_says_what_it_is_for() {
    var explained = mainFiles().filter(TidyTest::isSentence).map(SourceFile::packageName).toList();

    assertThat(mainFiles().map(SourceFile::packageName).filter(name -> !name.isEmpty()).distinct())
        .isSubsetOf(explained);
  }

  @Test
  void every_public_type_says_what_it_is() {
    assertThat(
            places(
                mainFiles(),
                file ->
                    file.places(
                        line ->
                            PUBLIC_TOP_LEVEL_TYPE.matcher(file.lines().get(line)).find()
                                && !hasComment(file, line))))
        .isEmpty();
  }

  @Test
  void names_say_something() {
    assertThat(
            places(
                files.stream(),
                file ->
                    file.places(
                        line -> {
                          var type = TYPE.matcher(file.lines().get(line));
                          return type.find() && VAGUE_NAME.matcher(type.group(1)).find();
                        })))
        .isEmpty();
  }

  @Test
  void a_simple_name_exists_once_in_the_repository() {
    var names =
        files.stream()
            .map(SourceFile::fileName)
            .filter(name -> !name.equals("package-info.java") && !name.equals("module-info.java"))
            .toList();

    assertThat(names).doesNotHaveDuplicates();
  }

  @Test
  void every_requirement_that_is_cited_is_listed() {
    var listed =
        Guide.named("requirements.md").lines().stream()
            .flatMap(line -> REQUIREMENT.matcher(line).results())
            .map(MatchResult::group)
            .collect(Collectors.toSet());
    var cited =
        files.stream()
            .flatMap(file -> file.lines().stream())
            .flatMap(line -> REQUIREMENT.matcher(line).results())
            .map(MatchResult::group)
            .collect(Collectors.toCollection(TreeSet::new));

    assertThat(listed).containsAll(cited);
  }

  @Test
  void nothing_catches_all_but_the_root_of_a_thread() {
    assertThat(
            places(
                mainFiles(),
                file ->
                    file.places(
                        line ->
                            CATCHES_ALL.matcher(file.lines().get(line)).find()
                                && !isRootOfThread(file, line))))
        .isEmpty();
  }

  @Test
  void nothing_throws_all() {
    assertThat(code(mainFiles(), THROWS_ALL)).isEmpty();
  }

  @Test
  void nothing_uses_thread_locals() {
    assertThat(code(mainFiles(), Pattern.compile("\\bThreadLocal\\b"))).isEmpty();
  }

  @Test
  void the_server_is_given_its_time_and_ids() {
    var given =
        mainFiles()
            .filter(TidyTest::isServerSide)
            .filter(file -> !feature(file.packageName()).equals("server"))
            .filter(file -> !file.fileName().equals("SystemTime.java"));

    assertThat(code(given, STATIC_TIME_OR_ID)).isEmpty();
  }

  @Test
  void the_server_uses_time_and_threads_through_its_ports() {
    var uses =
        mainFiles()
            .filter(TidyTest::isServerSide)
            .filter(file -> !feature(file.packageName()).equals("runtime"))
            .filter(file -> !file.findInCode(MACHINE_TIME_OR_THREADS).isEmpty())
            .map(SourceFile::fileName);

    assertThat(uses).isSubsetOf(USES_MACHINE);
  }

  /// The facts that metadata contain are typed: see docs/decisions/0022-typed-metadata.md.
  @Test
  void metadata_of_events_are_read_only_through_facts() {
    assertThat(mainFiles().filter(TidyTest::usesFacts))
        .filteredOn(file -> !OTHER_METADATA.contains(file.fileName()))
        .filteredOn(file -> METADATA_READ.matcher(String.join("\n", file.lines())).find())
        .extracting(SourceFile::path)
        .isEmpty();
    assertThat(code(mainFiles().filter(TidyTest::usesFacts), FACT_KEY)).isEmpty();
  }

  @Test
  void tests_neither_sleep_nor_are_switched_off() {
    var tests = files.stream().filter(SourceFile::test);

    assertThat(code(tests, Pattern.compile("Thread\\.sleep|[@]Disabled\\b"))).isEmpty();
  }

  @Test
  void what_is_left_to_do_has_an_issue_number() {
    var withoutNumber = Pattern.compile("\\b(?:TO[D]O|FIX[M]E)\\b(?!.*#\\d)");

    assertThat(places(files.stream(), file -> file.find(withoutNumber))).isEmpty();
  }

  private Stream<SourceFile> mainFiles() {
    return files.stream().filter(SourceFile::main);
  }

  private static List<String> code(Stream<SourceFile> files, Pattern forbidden) {
    return places(files, file -> file.findInCode(forbidden));
  }

  private static List<String> places(
      Stream<SourceFile> files, Function<SourceFile, List<String>> search) {
    return files.flatMap(file -> search.apply(file).stream()).toList();
  }

  private interface ImportRule {
    boolean allows(SourceFile importing, String imported);
  }

  private List<String> wrongImports(Predicate<SourceFile> which, ImportRule rule) {
    return mainFiles()
        .filter(which)
        .flatMap(
            file ->
                file.importedPackages().stream()
                    .filter(imported -> !rule.allows(file, imported.substring(OURS.length())))
                    .map(imported -> file.path() + " imports " + imported))
        .toList();
  }

  private static boolean isForModule(SourceFile file, String imported) {
    return MODULES.getOrDefault(file.module(), Set.of()).contains(first(imported));
  }

  private static boolean pointsDown(SourceFile file, String imported) {
    var own = file.packageName().substring(OURS.length());
    return first(imported).equals("protocol")
        || part(imported).equals(part(own))
        || (height(imported) >= 0 && height(imported) < height(own));
  }

  /// The group of a package, in which imports are free: a feature with its packages, or one API.
  private static String part(String name) {
    var names = name.split("\\.", -1);
    return names.length > 1 && names[0].equals("api") ? names[0] + "." + names[1] : names[0];
  }

  /// The layer of a package of the server; -1 if it has none.
  private static int height(String name) {
    var place = name.startsWith("api.") ? "api.*" : first(name);
    return IntStream.range(0, ORDER.size())
        .filter(height -> ORDER.get(height).contains(place))
        .findFirst()
        .orElse(-1);
  }

  private static String feature(String packageName) {
    return packageName.isEmpty() ? "" : first(packageName.substring(OURS.length()));
  }

  private static String first(String name) {
    return name.split("\\.", 2)[0];
  }

  private static boolean isServerSide(SourceFile file) {
    return file.module().equals("server") || EXTENSIONS.contains(file.module());
  }

  private static boolean usesFacts(SourceFile file) {
    return isServerSide(file)
        && FACT_READERS.contains(feature(file.packageName()))
        && !file.packageName().equals(OURS + "external.a2a");
  }

  private static boolean isSentence(SourceFile file) {
    return file.fileName().equals("package-info.java")
        && file.lines().contains("@NullMarked")
        && file.lines().getFirst().startsWith("/// ");
  }

  private static boolean hasComment(SourceFile file, int line) {
    for (var above = line - 1; above >= 0 && !file.lines().get(above).isBlank(); above--) {
      if (file.lines().get(above).startsWith("///")) {
        return true;
      }
    }
    return false;
  }

  private static boolean isRootOfThread(SourceFile file, int line) {
    return file.lines().subList(Math.max(0, line - 1), line + 1).stream()
        .anyMatch(text -> text.contains("root of a thread"));
  }
}
