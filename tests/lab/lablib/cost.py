# SPDX-License-Identifier: GPL-2.0-or-later
"""What recipes cost: modules with the same probes and nothing in them, those of an older commit, and the golden."""

import re
import shutil
import subprocess
import tarfile
import tomllib

from .common import SOURCE, LabError
from .scenario import build_modules

GOLDEN = SOURCE / "golden/cost.toml"
GOLDEN_OF = {None: GOLDEN, "arm64": SOURCE / "golden/cost-arm64.toml"}  # by a root's architecture
# Its stages are not divided, and by what its modules and its numbers are named then.
NO_PARTS, WITHOUT_PARTS = "--no-parts", "-no-parts"
WITH_PARTS = "-with-parts"  # they are divided only then
# What of the tree is in a module.
KERNEL_SIDE = ("templates", "tapsets")
# A module has the text of each of its probes, whole and as often as it has the probe.
POINT = re.compile(rb'(?<![ -~])((?:kprobe|kernel|module)\.\w+\("[^"\0]+"\)[.\w]*)[?!]*\0')


def add_empty(lab, recipe, module):
    """Give the run's stapgen a recipe with the probes of MODULE, made of RECIPE, that do nothing; return its name."""
    name = f"{module.partition('.')[0]}-empty"
    templates = lab.installed / "share/stapgen/templates"
    points = [point.decode() for point in POINT.findall((lab.work / f"{module}.ko").read_bytes())]
    if not points:
        raise LabError(f"no probes found in {module}.ko")
    (templates / name).mkdir()
    about = (templates / recipe / "recipe.toml").read_text()
    (templates / name / "recipe.toml").write_text(about.replace(f'name = "{recipe}"', f'name = "{name}"', 1))
    # stap leaves out a probe without a statement.
    (templates / name / "script.stp").write_text('probe begin { printf("<%header%>\\n"); stapgen_begin() }\n' + "".join(
        f"probe {point} {{ next }}\n" for point in points))
    return name


def git(*arguments):
    """Return what git says of this tree; None where it fails."""
    try:
        # Tests run as root, the tree may be somebody else's.
        done = subprocess.run(["git", "-c", "safe.directory=*", "-C", SOURCE.parent.parent, *arguments],
                              capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def known_commit(name):
    """Return the full name of a commit that git has here, else None."""
    return git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")


def install_before(lab, commit):
    """Install the run's stapgen once more in the run, with the kernel side of COMMIT; return the program's path there."""
    target = lab.run / "before"
    shutil.copytree(lab.installed, target)
    share = target / "share/stapgen"
    for folder in KERNEL_SIDE:
        shutil.rmtree(share / folder)
    archive = lab.run / "before.tar"
    if git("archive", f"--output={archive}", commit, *KERNEL_SIDE) is None:
        raise LabError(f"git archive {commit} failed")
    with tarfile.open(archive) as members:
        members.extractall(share)
    return "/lab/before/bin/stapgen"


def source(lab, installed, recipe):
    """Return all of the kernel side that may decide a recipe's modules, of the stapgen that is in that folder of the run."""
    share = lab.run / installed / "share/stapgen"
    includes = tomllib.loads((share / f"templates/{recipe}/recipe.toml").read_text()).get("includes", [])
    return {file.relative_to(share): file.read_bytes() for folder in (*(f"templates/{name}" for name in (recipe, *includes)), "tapsets")
            for file in (share / folder).rglob("*") if file.is_file()}


def build_before(lab, commit, modules):
    """Build those of MODULES that COMMIT has otherwise, as NAME.before; none with parts that are asked for, nor that keeps."""
    program = install_before(lab, commit)

    def known(recipe, *options):
        """Return the options without NO_PARTS where it had none."""
        has_parts = NO_PARTS in lab.stapgen([recipe, "--help-all"], program=program).stdout
        return [recipe, *(option for option in options if has_parts or option != NO_PARTS)]

    build_modules(lab, {f"{name}.before": known(*options) for name, options in modules.items()
                        if WITH_PARTS not in name and "--keep-memory" not in options
                        and source(lab, "before", options[0]) != source(lab, "stapgen", options[0])}, program=program)


def read_golden(file=GOLDEN):
    return tomllib.loads(file.read_text())


def rows(numbers):
    """Yield (recipe, traffic, {mode: {what: number}}) of the golden's numbers."""
    for recipe, of_recipe in numbers.items():
        for traffic, modes in of_recipe.items():
            yield recipe, traffic, modes


def write_golden(file, about, numbers):
    """Write texts, and {recipe: {traffic: {mode: {what: number}}}}."""
    lines = ["# Written by the scenario cost: tests/lab/README.md.", *(f'{key} = "{text}"' for key, text in about.items())]
    for recipe, traffic, modes in rows(numbers):
        lines += ["", f"[cost.{recipe}.{traffic}]"]
        for mode, values in modes.items():
            lines.append(f"{mode} = {{{', '.join(f'{what} = {value}' for what, value in values.items())}}}")
    file.write_text("\n".join(lines) + "\n")


def differences(known, found, tolerance):
    """Yield what is to be said of each ratio that was FOUND and is another than the one KNOWN, by the TOLERANCE of its mode."""
    for recipe, traffic, modes in rows(found):
        for mode, values in modes.items():
            for what in sorted(values.keys() - {"instructions"}):
                was, now = known.get(recipe, {}).get(traffic, {}).get(mode, {}).get(what), values[what]
                if was is None:
                    yield f"{recipe} {mode}, {traffic}, {what}: {now}, the golden has none"
                elif abs(now / was - 1) > tolerance[mode]:
                    yield f"{recipe} {mode}, {traffic}, {what}: {now}, the golden has {was} ({(now / was - 1) * 100:+.1f} %)"
