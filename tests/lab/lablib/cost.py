"""What recipes cost: modules with the same probes and nothing in them, those of the commit before, and the golden."""

import re
import shutil
import subprocess
import tarfile
import tomllib

from .common import SOURCE, LabError, say
from .scenario import build_modules

TREE = SOURCE.parent.parent
# What of the tree is in a module.
KERNEL_SIDE = ("templates", "tapsets")
NO_HISTORY = "git has no commit before the last change of templates/ and tapsets/ here: no checkout, or a shallow one"
# A module has the text of each of its probes, whole and as often as it has the probe.
POINT = re.compile(rb'(?<![ -~])((?:kprobe|kernel|module)\.\w+\("[^"\0]+"\)[.\w]*)[?!]*\0')


def add_empty(lab, recipe, module):
    """Give the run's stapgen a recipe with the probes of MODULE, made of RECIPE, that do nothing; return its name."""
    name = f"{recipe}-empty"
    templates = lab.run / "stapgen/share/stapgen/templates"
    points = [point.decode() for point in POINT.findall((lab.work / f"{module}.ko").read_bytes())]
    if not points:
        raise LabError(f"no probes found in {module}.ko")
    (templates / name).mkdir()
    about = (templates / recipe / "recipe.toml").read_text()
    (templates / name / "recipe.toml").write_text(about.replace(f'name = "{recipe}"', f'name = "{name}"', 1))
    # stap leaves out a probe without a statement.
    (templates / name / "script.stp").write_text('probe begin { stapgen_print_header("<%header%>") }\n' + "".join(
        f"probe {point} {{ next }}\n" for point in points))
    return name


def git(*arguments):
    """Return what git says of this tree; None where it fails."""
    try:
        # Tests run as root, the tree may be somebody else's.
        done = subprocess.run(["git", "-c", "safe.directory=*", "-C", TREE, *arguments], capture_output=True, text=True,
                              check=False)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def commit_before():
    """Return the commit before the last change of the kernel side; None where the history does not reach so far."""
    if git("status", "--porcelain", "--", *KERNEL_SIDE):
        return git("rev-parse", "HEAD")
    last = git("log", "-1", "--format=%H", "--", *KERNEL_SIDE)
    return git("rev-parse", "--verify", "--quiet", f"{last}^") if last else None


def install_before(lab, commit):
    """Install the run's stapgen once more in the run, with the kernel side of COMMIT; return the program's path there."""
    target = lab.run / "before"
    shutil.copytree(lab.run / "stapgen", target)
    share = target / "share/stapgen"
    for folder in KERNEL_SIDE:
        shutil.rmtree(share / folder)
    archive = lab.run / "before.tar"
    if git("archive", "--output", archive, commit, *KERNEL_SIDE) is None:
        raise LabError(f"git archive {commit} failed")
    with tarfile.open(archive) as members:
        members.extractall(share)
    return "/lab/before/bin/stapgen"


def sources(lab, program, recipe, options):
    """Return all of the kernel side that decides a module."""
    script = lab.stapgen(["render", recipe, *options, "--standalone"], program=program).stdout
    about = lab.run / program.split("/")[2] / "share/stapgen/templates" / recipe / "recipe.toml"
    return script, tomllib.loads(about.read_text()).get("stap")


def build_before(lab, modules):
    """Build those of MODULES that the commit before has otherwise, as NAME.before. Return the commit, or why not."""
    commit = commit_before()
    if not commit:
        return NO_HISTORY
    program, changed = install_before(lab, commit), {}
    try:
        for name, (recipe, *options) in modules.items():
            if sources(lab, program, recipe, options) != sources(lab, "/lab/stapgen/bin/stapgen", recipe, options):
                changed[f"{name}.before"] = [recipe, *options]
        build_modules(lab, changed, program=program)
    except LabError as failure:
        say(str(failure))
        return f"none: stapgen of now cannot make what {commit[:12]} has"
    return commit


def write_golden(path, kernel, tables):
    """Write TABLES of {NAME: number}; one that is a text, why there are no numbers, stands above the tables."""
    lines = ["# What the scenario cost found, which says how this is written.", f'kernel = "{kernel}"']
    lines += [f'{title} = "{reason}"' for title, reason in tables.items() if isinstance(reason, str)]
    for title, numbers in tables.items():
        if not isinstance(numbers, str):
            lines += ["", f"[{title}]", *(f'"{name}" = {number}' for name, number in numbers.items())]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


def differences(known, found, tolerance):
    """Yield what is to be said of each ratio that is another than the one KNOWN, which may be the reason why there is none."""
    if isinstance(known, str):
        yield f"the golden has no ratios: {known}"
        return
    for name in dict.fromkeys((*found, *known)):
        was, now = known.get(name), found.get(name)
        if was is None or now is None or abs(now / was - 1) > tolerance:
            change = f" ({(now / was - 1) * 100:+.2f} %)" if was and now else ""
            yield f"{name} is {now}, the golden has {was}{change}"
