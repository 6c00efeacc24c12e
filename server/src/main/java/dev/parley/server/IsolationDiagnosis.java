package dev.parley.server;

import dev.parley.identity.IdentityDatabase;
import dev.parley.server.Diagnosis.DiagnosisFinding;
import dev.parley.server.Diagnosis.DiagnosisGrade;
import dev.parley.tool.process.IsolationLevel;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/// Checks how this machine can isolate the programs that agents run, by running one.
public final class IsolationDiagnosis {

  private IsolationDiagnosis() {}

  /// Which level a server with this configuration uses, and which levels work.
  public static DiagnosisFinding check(Config given) {
    var config = given.withTenantsOf(IdentityDatabase.file(given.data().resolve("identity.db")));
    var works = new ArrayList<String>();
    var problems = new ArrayList<String>();
    var titles = new ArrayList<String>();
    for (var level : ContainmentConfig.LevelChoice.AUTO.levels()) {
      try {
        var root = Files.createTempDirectory("parley-doctor");
        try {
          var trial = Isolation.tryLevel(config, level, root);
          if (trial.works()) {
            works.add(level.wire());
            titles.add(trial.sandbox().description());
          } else {
            problems.add(level.wire() + ": " + trial.problem());
          }
        } finally {
          Files.delete(root);
        }
      } catch (IOException unwritable) {
        problems.add(level.wire() + ": " + unwritable.getMessage());
      }
    }
    return finding(config, works, titles, problems);
  }

  private static DiagnosisFinding finding(
      Config config, List<String> works, List<String> titles, List<String> problems) {
    var several = config.containment().severalTenants();
    var choice = config.containment().chosen();
    var available = works.isEmpty() ? String.join("; ", problems) : String.join(", ", works);
    if (choice == ContainmentConfig.LevelChoice.NONE) {
      return new DiagnosisFinding(
          several ? DiagnosisGrade.WARNING : DiagnosisGrade.OK,
          IsolationLevel.NONE.title()
              + (works.isEmpty() ? ". This machine has no other level: " : ". Other levels: ")
              + available);
    }
    var chosen =
        choice.levels().stream().map(IsolationLevel::wire).filter(works::contains).findFirst();
    return chosen
        .map(wire -> new DiagnosisFinding(DiagnosisGrade.OK, titles.get(works.indexOf(wire))))
        .orElseGet(
            () ->
                new DiagnosisFinding(
                    DiagnosisGrade.FAILURE,
                    "this machine cannot isolate programs ("
                        + String.join("; ", problems)
                        + "); see docs/isolation.md"));
  }
}
