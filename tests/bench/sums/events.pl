use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Measures;

my %groups;
while (<STDIN>) {
    next unless /^rx\t/;
    chomp;
    my (undef, undef, undef, $pid, $tid, $comm, undef, undef, undef, @values) = split /\t/;
    my $counts = $groups{"$pid $tid $comm"} //= [{}, {}, {}, {}, {}];
    for my $i (0 .. 4) { $counts->[$i]{$values[$i]}++ if $values[$i] ne '-' }
}
my @names = qw(drv-ip ip-tcp tcp-app ip-udp udp-app);
my %shown;
for my $group (keys %groups) {
    for my $i (0 .. 4) { $shown{$group}{$names[$i]} = $groups{$group}[$i] if %{$groups{$group}[$i]} }
}
Measures::show(\%shown);
