package dev.parley.app;

import dev.parley.app.PlannedFault.FaultKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/// What a campaign did and found. For one thread.
final class CampaignReport {

  private final long seed;
  private final String database;
  private final Map<FaultKind, Integer> faults = new EnumMap<>(FaultKind.class);
  private final Map<FaultKind, List<Long>> takeovers = new EnumMap<>(FaultKind.class);
  private final Map<FaultKind, List<Long>> vacancies = new EnumMap<>(FaultKind.class);
  private final List<String> violations = new ArrayList<>();
  private int contexts;
  private int events;
  private int acknowledgements;
  private int readings;
  private int effects;

  /// Asked at the start, because the sources may change during a long campaign.
  private final String commit = commit();

  CampaignReport(long seed, String database) {
    this.seed = seed;
    this.database = database;
  }

  void fault(FaultKind kind) {
    faults.merge(kind, 1, Integer::sum);
  }

  /// The time from a fault until another server had acknowledged a message, and the part of it after
  /// the database had no active server any more.
  void takeover(FaultKind kind, long millis, long vacantMillis) {
    takeovers.computeIfAbsent(kind, _ -> new ArrayList<>()).add(millis);
    vacancies.computeIfAbsent(kind, _ -> new ArrayList<>()).add(vacantMillis);
  }

  /// A history that was checked, with what was found.
  void checked(CampaignHistory history, List<String> found) {
    contexts += history.logs().size();
    events += history.logs().values().stream().mapToInt(List::size).sum();
    acknowledgements += history.acknowledgements().size();
    readings += history.readings().size();
    effects = history.effects().size();
    violations.addAll(found);
  }

  void violated(String violation) {
    violations.add(violation);
  }

  List<String> violations() {
    return List.copyOf(violations);
  }

  /// The number of faults so far.
  int count() {
    return faults.values().stream().mapToInt(Integer::intValue).sum();
  }

  /// The report for people.
  String text() {
    var text = new StringBuilder();
    text.append("Fault campaign: seed %d, commit %s, %s%n".formatted(seed, commit, database));
    text.append("%d faults%n".formatted(count()));
    faults.forEach((kind, count) -> text.append("  %4d  %s%n".formatted(count, kind.text())));
    text.append(
        "Takeovers, from the fault to the first message that another server accepts; and the part of"
            + " it after the earlier server had given up its role, or was declared dead\n");
    takeovers.forEach(
        (kind, millis) ->
            text.append(
                "  %4d  %s: %s; %s%n"
                    .formatted(
                        millis.size(),
                        kind.text(),
                        summary(millis),
                        summary(vacancies.getOrDefault(kind, List.of())))));
    text.append(
        "Checked %d contexts with %d events, %d acknowledgements, %d streams, %d effects%n"
            .formatted(contexts, events, acknowledgements, readings, effects));
    text.append("%d violations%n".formatted(violations.size()));
    violations.forEach(violation -> text.append("  ").append(violation).append('\n'));
    return text.toString();
  }

  private static String summary(List<Long> millis) {
    var sorted = millis.stream().sorted().toList();
    return sorted.isEmpty()
        ? "unknown"
        : "median %d ms, maximum %d ms"
            .formatted(sorted.get((sorted.size() - 1) / 2), sorted.getLast());
  }

  /// The commit of the sources, or `unknown` where there is no git.
  private static String commit() {
    try {
      var git =
          new ProcessBuilder("git", "describe", "--always", "--dirty", "--exclude=*")
              .redirectErrorStream(true)
              .start();
      var output = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      return git.waitFor() == 0 ? output : "unknown";
    } catch (IOException absent) {
      return "unknown";
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return "unknown";
    }
  }
}
